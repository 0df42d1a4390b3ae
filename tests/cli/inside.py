"""Runs the program inside of the test: as `running.ran` does, without the price of a process."""

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from stockman.cli.edge import run
from tests.cli.running import Ran, clean


def ran_inside(*arguments: str, typed: str = "", **environment: str) -> Ran:
    """Run a command line with these streams and this environment only."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    with _surroundings(io.TextIOWrapper(io.BytesIO(typed.encode())), out, err, environment):
        status = run(list(arguments))
    return Ran(int(status), _text(out), _text(err))


@contextmanager
def _surroundings(
    text_i_o_wrapper: io.TextIOWrapper,
    out: io.TextIOWrapper,
    err: io.TextIOWrapper,
    environment: dict[str, str],
) -> Iterator[None]:
    streams, variables = (sys.stdin, sys.stdout, sys.stderr), dict(os.environ)
    os.environ.clear()
    os.environ.update(clean(**environment))
    sys.stdin, sys.stdout, sys.stderr = text_i_o_wrapper, out, err
    try:
        yield
    finally:
        sys.stdin, sys.stdout, sys.stderr = streams
        os.environ.clear()
        os.environ.update(variables)


def _text(stream: io.TextIOWrapper) -> str:
    stream.flush()
    buffer = stream.buffer
    assert isinstance(buffer, io.BytesIO)
    return buffer.getvalue().decode("utf-8", "surrogateescape")
