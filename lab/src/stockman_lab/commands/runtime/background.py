"""A lab that goes on after the command that started it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from time import monotonic, sleep  # noqa: TID251  # another process, in real time

from stockman.model.errors import Refused
from stockman.model.problem import Problem
from stockman_lab.commands.runtime.directories import LabFiles
from stockman_lab.commands.runtime.serve import HOSTS, LabOptions, is_locked, locked, prepare

_PATIENCE = 30.0
_MOST_STAGING = 600.0
_FAREWELL = 2.0
"""Seconds that a process takes at most from keeping its state to its end."""
_PAUSE = 0.02
MACHINE = "machine "
"""How lines begin that tell how far a machine is."""


def detached(
    files: LabFiles, options: LabOptions, told: Callable[[str], None] | None = None
) -> None:
    """Start a lab in the background, and wait until all of it answers.

    `told` gets the lines that it says meanwhile.
    """
    prepare(files)
    with locked(files):
        files.run.unlink(missing_ok=True)  # of one that was killed
    command = [
        sys.executable, "-m", "stockman", "lab", "up",
        "--preset", options.preset, "--network", str(options.network), "--pve", options.profile,
        "--speed", "max" if options.speed is None else str(options.speed),
        "--state", str(files.state.resolve()),
        "--stage", options.stage,
        *(["--talos", options.talos_version] if options.talos_version else []),
        *(["--slow-refusals"] if options.slow_refusals else []),
        *(
            text
            for url, path in options.repositories.items()
            for text in ("--repo", f"{url}={path}")
        ),
    ]  # fmt: skip
    with files.log.open("wb") as log:
        process = subprocess.Popen(  # ourselves
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    patience = _PATIENCE if options.stage == HOSTS else _MOST_STAGING
    try:
        is_ready = _wait_until_ready(process, files, patience, told)
    except BaseException:
        process.terminate()  # who waits has had enough
        raise
    if not is_ready:
        process.terminate()
        raise Refused(failed(files, files.log.read_text(errors="replace")))
    process.returncode = 0  # it outlives us, and nobody is to miss it


def _wait_until_ready(
    process: subprocess.Popen[bytes],
    files: LabFiles,
    patience: float,
    told: Callable[[str], None] | None,
) -> bool:
    """Wait for a lab, and pass on what it says; returns whether it is ready."""
    begun, heard = monotonic(), 0
    while monotonic() - begun < patience:
        has_ended, is_ready = process.poll() is not None, files.run.exists()
        heard += _pass_on_lines(files, heard, told)
        if is_ready or has_ended:
            return is_ready
        sleep(_PAUSE)
    return False


def _pass_on_lines(files: LabFiles, heard: int, told: Callable[[str], None] | None) -> int:
    """Pass on what the lab said of its machines since; returns how many lines that were."""
    if told is None:
        return 0
    lines = files.log.read_text(errors="replace").splitlines(keepends=True)[heard:]
    rows = [one.rstrip("\n") for one in lines if one.endswith("\n")]
    for line in rows:
        if line.startswith(MACHINE):
            told(line)
    return len(rows)


def failed(files: LabFiles, text: str) -> Problem:
    """A lab that ended before it was ready, and what it said on its way."""
    return Problem(
        code="lab.start",
        what="the lab did not start",
        where=str(files.log),
        why=" ".join(_complaint(text).split())[:500] or "it says nothing",
        fix="start it without --detach to see more",
    )


def _complaint(text: str) -> str:
    """What a lab said, without how far its machines were."""
    return "\n".join(line for line in text.splitlines() if not line.startswith(MACHINE))


def ended(files: LabFiles) -> None:
    """Wait until a lab that was told to stop has kept its state."""
    begun = monotonic()
    while files.run.exists() and monotonic() - begun < _PATIENCE:
        sleep(_PAUSE)
    begun = monotonic()
    while is_locked(files) and monotonic() - begun < _FAREWELL:
        sleep(_PAUSE)
