"""Ctrl-C while a run goes on."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Iterator
from contextlib import contextmanager

from stockman.engine.stop import Stop


@contextmanager
def interruptible(stop: Stop) -> Iterator[None]:
    """Let Ctrl-C, and a request to terminate, stop a run well once and at once the second time."""
    loop = asyncio.get_running_loop()
    signals = (signal.SIGINT, signal.SIGTERM)
    for one in signals:
        loop.add_signal_handler(one, stop.ask)
    try:
        yield
    finally:
        for one in signals:
            loop.remove_signal_handler(one)
