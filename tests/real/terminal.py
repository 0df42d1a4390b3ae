"""A terminal that a program draws into, and what is to be seen on it."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import sys
import termios
from collections.abc import Callable, Sequence
from subprocess import Popen
from time import monotonic  # noqa: TID251  # how long a real program may take

_ROWS, _COLUMNS = 50, 200
_PIECE = 1 << 16
_TURN = 0.5
_LAUNCHER = (
    "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); "
    "os.execv(sys.argv[1], sys.argv[1:])"
)
"""Makes the terminal that of the program, and becomes the program."""
_SAID = re.compile(
    r"\x1b\[(?P<where>\d*;?\d*)H|\x1b\[[0-9;?>=]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)"
    r"|\x1b[()][0-9A-B]|\x1b[=>78]|(?P<control>[\r\n\b])|(?P<text>[^\x1b\x00-\x1f]+)"
)


class Screen:
    """Letters where a program put them; colours are not looked at."""

    def __init__(self) -> None:
        self._rows = [[" "] * _COLUMNS for _ in range(_ROWS)]
        self._row = self._column = 0

    def draw(self, said: str) -> None:
        for part in _SAID.finditer(said):
            if part["where"] is not None:
                row, _, column = part["where"].partition(";")
                self._row = min(int(row or 1), _ROWS) - 1
                self._column = min(int(column or 1), _COLUMNS) - 1
            elif part["control"] is not None:
                self._control(part["control"])
            elif part["text"] is not None:
                self._write(part["text"])

    @property
    def text(self) -> str:
        return "\n".join("".join(row).rstrip() for row in self._rows)

    def _control(self, letter: str) -> None:
        if letter == "\r":
            self._column = 0
        elif letter == "\n":
            self._row = min(self._row + 1, _ROWS - 1)
        else:
            self._column = max(self._column - 1, 0)

    def _write(self, text: str) -> None:
        for letter in text:
            if self._column == _COLUMNS:
                self._row, self._column = min(self._row + 1, _ROWS - 1), 0
            self._rows[self._row][self._column] = letter
            self._column += 1


def drawn(
    command: Sequence[str], is_done: Callable[[str], bool], patience: float, tty: str = "xterm"
) -> str:
    """What a program draws until that is enough, or for as long as patience lasts."""
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", _ROWS, _COLUMNS, 0, 0))
    program = Popen(
        [sys.executable, "-c", _LAUNCHER, *command],
        stdin=its,
        stdout=its,
        stderr=its,
        env={**os.environ, "TERM": tty},
        start_new_session=True,
    )
    os.close(its)
    screen, end = Screen(), monotonic() + patience
    kept = b""
    try:
        while monotonic() < end and not is_done(screen.text):
            if not select.select([ours], [], [], _TURN)[0]:
                continue
            kept += os.read(ours, _PIECE)
            text, kept = _whole(kept)
            screen.draw(text)
    except OSError:  # the program is gone, and its terminal with it
        pass
    finally:
        program.kill()
        program.wait()
        os.close(ours)
    return screen.text


def _whole(raw: bytes) -> tuple[str, bytes]:
    """Everything up to the last order to the terminal, which may not be there in full."""
    last = raw.rfind(b"\x1b")
    if last <= 0:
        return raw.decode("utf-8", "replace"), b""
    return raw[:last].decode("utf-8", "replace"), raw[last:]
