"""``ctr schema``: JSON Schema of the configuration file, for editors."""

import json

import click


@click.command()
def schema() -> None:
    """Print the JSON Schema of the configuration file.

    Editors that know it complete keys and mark faults while one types.
    """
    from pipeline.config import PipelineConfig

    click.echo(json.dumps(PipelineConfig.model_json_schema(), indent=2))
