"""Metrics files for the node exporter of Prometheus."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from stockman.adapters.files import replace_file
from stockman.assessment.prometheus import Metric, prometheus_text
from stockman.model.errors import StockmanError
from stockman.model.problem import Problem
from stockman.ports.system import Entropy

_TAG_BYTES = 4


def write_textfile(path: Path, metrics: Iterable[Metric], entropy: Entropy) -> None:
    """Replace a metrics file atomically."""
    tag = entropy.random_bytes(_TAG_BYTES).hex()
    try:
        replace_file(path, prometheus_text(metrics).encode(), tag=tag)
    except OSError as error:
        raise StockmanError(_unwritable(path, error)) from None


def _unwritable(path: Path, error: OSError) -> Problem:
    return Problem(
        code="metrics.unwritable",
        what=f"{path.name} cannot be written",
        where=str(path),
        why=error.strerror or type(error).__name__,
        fix="check that the directory exists and that you may write there",
    )
