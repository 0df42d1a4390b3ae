"""Pausing the garbage collector while many objects are created."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def pause_gc() -> Iterator[None]:
    """Disable the garbage collector inside the block, for work that creates many permanent objects.

    Reading a thousand nodes creates half a million objects; the collector would scan them
    repeatedly without finding garbage, and take a third of the time.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
