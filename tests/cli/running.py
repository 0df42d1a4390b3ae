"""Runs the program as a process: in a clean environment, in pipes or on a terminal."""

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
REAL = (sys.executable, "-m", "stockman")
FAKE = (sys.executable, "-m", "tests.cli.fake_program")
PATIENCE = 60
"""Seconds after which a process counts as hung; none takes a twentieth of it."""


class Ran(NamedTuple):
    """What a process left behind."""

    status: int
    out: str
    err: str


def clean(**more: str) -> dict[str, str]:
    """The environment of a process that inherits nothing but where programs are."""
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)]),
        "PYTHONWARNINGS": "error",
        "LANG": "C.UTF-8",
        **more,
    }


def ran(*arguments: str, program: Sequence[str] = FAKE, typed: str = "", **environment: str) -> Ran:
    """Run a command line in pipes, `given` on stdin; keywords are environment variables."""
    done = subprocess.run(
        [*program, *arguments],
        input=typed,
        capture_output=True,
        encoding="utf-8",
        errors="surrogateescape",
        env=clean(**environment),
        cwd=ROOT,
        timeout=PATIENCE,
        check=False,
    )
    return Ran(done.returncode, done.stdout, done.stderr)


def in_bash(script: str) -> Ran:
    """Run a script in bash, with its own exit status."""
    return ran("--norc", "-c", script, program=("bash",))


def on_terminal(
    *arguments: str,
    typed: str = "",
    after: str = "",
    columns: int = 80,
    program: Sequence[str] = FAKE,
    **environment: str,
) -> Ran:
    """Run a command line on a terminal of its own; `out` is all that the terminal showed.

    Nothing is typed before `after` is shown.
    """
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    with subprocess.Popen(
        [*program, *arguments],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=clean(TERM="xterm") | environment,
        cwd=ROOT,
    ) as process:
        os.close(theirs)
        before = _read(ours, until=after.encode()) if after else ""
        os.write(ours, typed.encode())
        shown = before + _read(ours)
        os.close(ours)
        status = process.wait(PATIENCE)
    return Ran(status, shown.replace("\r\n", "\n"), "")


def _read(descriptor: int, until: bytes = b"") -> str:
    seen = b""
    while not until or until not in seen:
        try:
            content = os.read(descriptor, 65536)
        except OSError:  # Linux says EIO when the last program has left the terminal
            content = b""
        if not content:
            break
        seen += content
    return seen.decode()
