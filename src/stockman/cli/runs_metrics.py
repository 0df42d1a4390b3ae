"""`stockman runs metrics`: what runs came to, for Prometheus."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from stockman.cli import options
from stockman.cli.command import command
from stockman.cli.exit import Exit
from stockman.cli.metric_form import Form, metric_output
from stockman.cli.output import Output, show
from stockman.cli.runs_look import read
from stockman.cli.screen import Screen, current

if TYPE_CHECKING:
    from stockman.app.prometheus_text import Metric
    from stockman.engine.carrying_out import Home
    from stockman.ports.clock import Clock

_FOLDER = "/var/lib/node_exporter"


@command(
    name="metrics",
    examples={
        "stockman runs metrics": "the text that Prometheus reads",
        "stockman runs metrics -o json": "the same for programs",
        f"stockman runs metrics --textfile {_FOLDER}/stockman.prom": "for a node exporter",
    },
)
@click.option(
    "--textfile",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write a file instead, whole or not at all.",
)
@metric_output
@click.pass_context
def runs_metrics(ctx: click.Context, textfile: Path | None, output: Form) -> int:
    """Print metrics of the newest run, in the text format of Prometheus.

    They are made from its journal: progress, result, times of steps and gates, what is held, and
    when a run last succeeded.
    """
    from stockman.app.run_metrics import run_history, run_metrics

    async def measured(home: Home, clock: Clock) -> tuple[Metric, ...]:
        return run_metrics(await run_history(home, clock), clock.now())

    found = read(options.directory(ctx), measured)
    if textfile is None:
        shown = Output.TABLE if output is Form.PROMETHEUS else Output(output.value)
        show(found, kind="RunMetrics", output=shown, human=_lines)
        return Exit.DONE
    from stockman.adapters.system import SystemEntropy
    from stockman.app.metrics_file import write_textfile

    write_textfile(textfile, found, SystemEntropy())
    current().note(f"wrote {textfile}")
    return Exit.DONE


def _lines(metrics: tuple[Metric, ...], screen: Screen) -> Iterator[str]:
    from stockman.app.prometheus_text import prometheus_text

    del screen
    yield from prometheus_text(metrics).splitlines()
