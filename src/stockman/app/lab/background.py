"""A lab that goes on after the command that started it."""

from __future__ import annotations

import subprocess
import sys
from time import monotonic, sleep  # noqa: TID251  # another process, in real time

from stockman.app.lab.places import LabPlaces
from stockman.app.lab.serve import LabWish, locked, prepare
from stockman.model.errors import Refused
from stockman.model.problem import Problem

_PATIENCE = 30.0
_PAUSE = 0.02


def detached(places: LabPlaces, wish: LabWish) -> None:
    """Start a lab in the background, and wait until it is ready."""
    prepare(places)
    with locked(places):
        places.run.unlink(missing_ok=True)  # of one that was killed
    command = [
        sys.executable, "-m", "stockman", "lab", "up", "--quiet",
        "--preset", wish.preset, "--network", str(wish.network), "--pve", wish.profile,
        "--speed", "max" if wish.speed is None else str(wish.speed),
        "--state", str(places.state.resolve()),
        *(["--slow-refusals"] if wish.slow_refusals else []),
        *(word for url, path in wish.repositories.items() for word in ("--repo", f"{url}={path}")),
    ]  # fmt: skip
    with places.log.open("wb") as log:
        process = subprocess.Popen(  # ourselves
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    begun = monotonic()
    while monotonic() - begun < _PATIENCE:
        if process.poll() is not None:
            break
        if places.run.exists():
            return
        sleep(_PAUSE)
    raise Refused(failed(places, places.log.read_text(errors="replace")))


def failed(places: LabPlaces, said: str) -> Problem:
    """A lab that ended before it was ready, and what it said on its way."""
    return Problem(
        code="lab.start",
        what="the lab did not start",
        where=str(places.log),
        why=" ".join(said.split())[:500] or "it says nothing",
        fix="start it without --detach to see more",
    )


def ended(places: LabPlaces) -> None:
    """Wait until a lab that was told to stop has kept its state."""
    begun = monotonic()
    while places.run.exists() and monotonic() - begun < _PATIENCE:
        sleep(_PAUSE)
