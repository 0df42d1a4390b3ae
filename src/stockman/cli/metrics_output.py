"""`-o` of commands with metrics: the usual formats and the Prometheus text format."""

from __future__ import annotations

from enum import Enum

import click

from stockman.cli import options


class MetricsOutput(Enum):
    """Output format."""

    TABLE = "table"
    JSON = "json"
    YAML = "yaml"
    PROMETHEUS = "prometheus"


metric_output = click.option(
    "-o",
    "--output",
    type=options.Choice(MetricsOutput),
    default=MetricsOutput.TABLE.value,
    show_default=True,
    envvar="STOCKMAN_OUTPUT",
    show_envvar=True,
    help="Output format.",
)
