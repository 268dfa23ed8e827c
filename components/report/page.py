"""The report as one HTML file that opens from disk, without a network."""

import base64
import datetime
import hashlib
from importlib import resources

import jinja2
from plotly.offline import get_plotlyjs

from components.report.content import Content
from components.report.headline import headline, tiles
from components.report.sections import sections


def render_page(content: Content, made: datetime.datetime | None = None) -> str:
    """Renders the page.

    Args:
        content: of the report.
        made: time that the page shows as its own; now when None.

    Returns:
        HTML with style, script and charts inside.
    """
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("components.report"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    parts = sections(content)
    scripts = [get_plotlyjs(), _template("page.js")]
    return environment.get_template("page.html").render(
        summary=content.summary,
        headline=headline(content),
        tiles=tiles(content),
        sections=parts,
        figures=[chart.figure for part in parts for chart in part.charts],
        configuration_base64=base64.b64encode(content.configuration.encode()).decode(),
        style=_template("page.css"),
        scripts=scripts,
        # Only these scripts may run and nothing may be fetched, so that text from the
        # data stays text even if an escape were missing.
        policy=(
            "default-src 'none'; img-src data: blob:; style-src 'unsafe-inline'; "
            f"script-src {' '.join(_source(script) for script in scripts)}"
        ),
        made=(made or datetime.datetime.now(datetime.timezone.utc)).strftime(
            "%Y-%m-%d %H:%M UTC"
        ),
    )


def _template(name: str) -> str:
    """A file of the package as text."""
    folder = resources.files("components.report") / "templates"
    return (folder / name).read_text("utf-8")


def _source(script: str) -> str:
    """A script as the page's policy names it, by its SHA-256."""
    digest = hashlib.sha256(script.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
