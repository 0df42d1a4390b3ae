"""Building without the garbage collector looking on."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def pause_gc() -> Iterator[None]:
    """No collections inside: for work that makes many objects which all stay.

    Reading a thousand nodes makes half a million of them; the collector would walk them again and
    again, find nothing, and take a third of the time.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
