"""Problems of files with metrics."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import chdir
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from stockman.app.runs.metrics import write_textfile
from stockman.model.errors import StockmanError
from stockman.model.problem import Problem
from tests.app.private_problems import Counted


def unwritable() -> Problem:
    """What is said of a directory that is not there."""
    with (
        TemporaryDirectory() as directory,
        chdir(directory),
        pytest.raises(StockmanError) as caught,
    ):
        write_textfile(Path("textfiles/stockman.prom"), (), Counted())
    return caught.value.problem


MADE_BY_CALL: dict[str, Callable[[], Problem]] = {"metrics.unwritable": unwritable}
