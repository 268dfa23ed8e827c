"""The page in a real browser: draws, sorts, filters, fits, and runs nothing from data."""

import shutil

import pytest

from components.report.page import render_page

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
# Opening a page takes a second, so the tests that only look share one.
pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="no Chromium; apt-get install chromium"
)


class Visit:
    """An open page with what went wrong on it and what it asked for."""

    def __init__(self, browser, path, width):
        self.faults: list[str] = []
        self.requests: list[str] = []
        context = browser.new_context(
            viewport={"width": width, "height": 900}, offline=True
        )
        self.page = context.new_page()
        self.page.on("console", lambda message: self.faults.append(message.text))
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(path.as_uri())
        # Until no chart is without its drawing.
        self.page.wait_for_selector(".chart:not(:has(.main-svg))", state="detached")

    def column(self, place):
        """First lines of the shown cells of a column of the table of slices."""
        rows = self.page.locator("#slices tbody tr:not([hidden])")
        cells = rows.locator(f"td:nth-child({place})").all_inner_texts()
        return [text.split("\n")[0] for text in cells]

    def head(self, text):
        return self.page.locator("#slices th", has_text=text)


@pytest.fixture(scope="module")
def browser():
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield started
        started.close()


@pytest.fixture(scope="module")
def path(content, tmp_path_factory):
    target = tmp_path_factory.mktemp("report") / "a report #1.html"
    target.write_text(render_page(content), "utf-8")
    return target


@pytest.fixture(scope="module")
def seen(browser, path):
    return Visit(browser, path, 1200)


def test_a_page_draws_every_chart_and_asks_for_nothing(seen):
    assert seen.page.locator(".chart").count() > 10
    assert seen.faults == []
    assert [url[:5] for url in seen.requests] == ["file:"]


def test_text_from_the_data_is_shown_and_never_run(seen, content):
    assert seen.page.title() == "ads · 2026-01-02T03:04:05.000006 · Not blessed"
    assert seen.page.locator("img").count() == 0
    # Plotly and the page's own; a third one holds only the figures.
    assert seen.page.locator("script:not([type])").count() == 2
    shown = seen.page.locator("#slices td:first-child").all_text_contents()
    for entry in content.summary["slices"][1:]:
        name = f"device={entry['slice']['device']}"
        assert any(name in text for text in shown)


def test_a_script_that_is_not_the_page_s_own_is_refused(browser, path, tmp_path):
    # Even if an escape were missing.
    taken = tmp_path / "taken.html"
    script = "<script>document.title = 'taken'</script></main>"
    taken.write_text(path.read_text("utf-8").replace("</main>", script), "utf-8")
    visit = Visit(browser, taken, 1200)
    assert visit.page.title() != "taken"
    assert "Content Security Policy" in visit.faults[0]


def test_a_head_sorts_by_number_and_back(seen, content):
    clicks = sorted(entry["clicks"] for entry in content.summary["slices"])
    head = seen.head("clicks")
    for order, expected in (("ascending", clicks), ("descending", clicks[::-1])):
        head.locator("button").click()
        assert head.get_attribute("aria-sort") == order
        assert seen.column(3) == [f"{one:,}" for one in expected]


def test_a_head_sorts_by_keyboard(seen):
    head = seen.head("slice")
    head.locator("button").focus()
    seen.page.keyboard.press("Enter")
    assert head.get_attribute("aria-sort") == "ascending"
    assert seen.page.locator("#slices th[aria-sort]").count() == 1


def test_rows_without_a_value_sort_last_in_both_directions(seen):
    for _ in range(2):
        seen.head("GAUC").locator("button").click()
        assert seen.column(1)[-1] == "device=android"


def test_filters_keep_the_slices_asked_for(seen, content):
    form = seen.page.locator("#slices form")
    form.locator("input[name=text]").fill("DEVICE=")
    form.locator("input[name=clicks]").fill("250")
    assert sorted(seen.column(1)) == ["device=android", "device=ios"]
    total = len(content.summary["slices"])
    assert form.locator("output").inner_text() == f"2 of {total} slices"


@pytest.mark.parametrize("width", [400, 1200])
def test_a_page_never_scrolls_sideways(browser, seen, path, width):
    visit = seen if width == 1200 else Visit(browser, path, width)
    widths = visit.page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    assert widths[0] <= widths[1] == width


def test_the_page_of_a_failed_run_opens(browser, failed, tmp_path):
    target = tmp_path / "failed.html"
    target.write_text(render_page(failed), "utf-8")
    visit = Visit(browser, target, 1200)
    assert visit.page.locator("#verdict h2").inner_text().endswith("Run failed")
    assert visit.page.locator("#training .absent").count() == 2
    assert visit.faults == []
