"""Where the demo plays: a directory and a loopback network, and nothing that stays in them."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_NETWORKS = range(66, 250)
_DOORS = ((2, 9000), (2, 3000), (3, 8080), (4, 8006), (4, 2222), (11, 8006))
"""Places and ports at which labs answer."""
_PATIENCE = 5.0
_PAUSE = 0.05


class NoNetwork(Exception):
    """Every loopback network is in use, or there is none but 127.0.0.1."""


def free_network(numbers: Iterable[int] = _NETWORKS) -> str:
    """The first loopback network in which nobody answers where a lab wants to."""
    for number in numbers:
        if all(_is_free(f"127.{number}.0.{place}", port) for place, port in _DOORS):
            return f"127.{number}.0.0/16"
    raise NoNetwork("no loopback network is free for a lab: see what answers on 127.66.0.4")


def _is_free(address: str, port: int) -> bool:
    with socket.socket() as door:
        door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            door.bind((address, port))
        except OSError:
            return False
    return True


@contextmanager
def scene_of_action(*, keep: bool) -> Iterator[Path]:
    """A new directory; gone afterwards, with everything that was started from it, unless kept."""
    home = Path(tempfile.mkdtemp(prefix="stockman-demo-")).resolve()
    stays = False
    try:
        yield home
        stays = keep
    finally:
        if not stays:
            end_processes(home)
            shutil.rmtree(home, ignore_errors=True)


def end_processes(home: Path) -> None:
    """End every process that was started with a file of a directory, which nobody else knows."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        begun = time.monotonic()
        left = _processes(home)
        for one in left:
            with suppress(ProcessLookupError):
                os.kill(one, number)
        while left and time.monotonic() - begun < _PATIENCE:
            time.sleep(_PAUSE)
            left = _processes(home)
        if not left:
            return


def _processes(home: Path) -> list[int]:
    """Labs that run from a directory, and whatever else has it in its command line."""
    found = set(_said(home)) | set(_seen(home))
    return sorted(found - {os.getpid()})


def _said(home: Path) -> Iterator[int]:
    """Labs that say themselves that they run."""
    for file in home.glob("*/.stockman/*.run"):
        with suppress(OSError, ValueError, KeyError):
            process = int(json.loads(file.read_bytes())["pid"])
            os.kill(process, 0)
            yield process


def _seen(home: Path) -> Iterator[int]:
    """Processes of this machine, where it lists them as files."""
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            if os.fsencode(home) in file.read_bytes():
                yield int(file.parent.name)
