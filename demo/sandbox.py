"""A temporary directory and a free loopback network for the demo."""

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
_PORTS = ((2, 9000), (2, 3000), (3, 8080), (4, 8006), (4, 2222), (11, 8006))
"""Last byte of addresses, and ports, on which labs listen."""
_RESERVATION_PORT = 8999
"""Bound by a demo that runs; no lab uses it."""
_STOP_SECONDS = 5.0
_PAUSE = 0.05


class NoFreeNetwork(Exception):
    """All loopback networks are in use, or only 127.0.0.1 exists."""


@contextmanager
def free_network(numbers: Iterable[int] = _NETWORKS) -> Iterator[str]:
    """Yield the first loopback network in which the ports of a lab are free.

    Until the end no other demo takes it: its lab starts to listen only later.
    """
    for number in numbers:
        with socket.socket() as reservation:
            try:
                reservation.bind((f"127.{number}.0.1", _RESERVATION_PORT))
            except OSError:
                continue
            if all(_is_free(f"127.{number}.0.{host}", port) for host, port in _PORTS):
                yield f"127.{number}.0.0/16"
                return
    raise NoFreeNetwork("no loopback network is free for a lab; check what listens on 127.66.0.4")


def _is_free(address: str, port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((address, port))
        except OSError:
            return False
    return True


@contextmanager
def temporary_home(*, keep: bool) -> Iterator[Path]:
    """Create a directory; delete it with all processes started from it, unless it is kept."""
    home = Path(tempfile.mkdtemp(prefix="stockman-demo-")).resolve()
    is_kept = False
    try:
        yield home
        is_kept = keep
    finally:
        if not is_kept:
            end_processes(home)
            shutil.rmtree(home, ignore_errors=True)


def end_processes(home: Path) -> None:
    """Stop all processes that use a directory."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        start = time.monotonic()
        remaining = _processes(home)
        for process in remaining:
            with suppress(ProcessLookupError):
                os.kill(process, number)
        while remaining and time.monotonic() - start < _STOP_SECONDS:
            time.sleep(_PAUSE)
            remaining = _processes(home)
        if not remaining:
            return


def _processes(home: Path) -> list[int]:
    """Return labs of a directory, and processes with the directory in their command line."""
    processes = set(_recorded_labs(home)) | set(_listed_processes(home))
    return sorted(processes - {os.getpid()})


def _recorded_labs(home: Path) -> Iterator[int]:
    """Labs that recorded their process id."""
    for file in home.glob("*/.stockman/*.run"):
        with suppress(OSError, ValueError, KeyError):
            process = int(json.loads(file.read_bytes())["pid"])
            os.kill(process, 0)
            yield process


def _listed_processes(home: Path) -> Iterator[int]:
    """Processes in `/proc`, if it exists."""
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            if os.fsencode(home) in file.read_bytes():
                yield int(file.parent.name)
