"""Input and output of a command: data on stdout, everything else on stderr, answers from stdin."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, TextIO

import click

from stockman.cli.terminal import layout
from stockman.cli.terminal.styles import Paint, paint_text, plain_text

if TYPE_CHECKING:
    from stockman.model.problem import Problem


class OutputClosed(Exception):
    """The reader of the output closed it, so no error can be printed either."""


class Screen:
    """Three streams and the verbosity.

    A stream that the caller closed is None; writes to it are ignored.
    """

    def __init__(
        self,
        stdin: TextIO | None,
        stdout: TextIO | None,
        stderr: TextIO | None,
        environment: Mapping[str, str],
    ) -> None:
        self._stdin = stdin
        self._stdout = _replace_unencodable(stdout)
        self._stderr = _replace_unencodable(stderr)
        self._environment = environment
        self.verbosity = 0
        self.quiet = False
        self.debug = False
        self._documents = 0
        self.colorless = (
            bool(environment.get("NO_COLOR")) or environment.get("TERM", "dumb") == "dumb"
        )

    def data(self, text: str) -> None:
        """Print data to stdout."""
        _write(self._stdout, text)

    def document(self, text: str) -> None:
        """Print a YAML document to stdout, separated from the previous one."""
        self.data(f"---\n{text}" if self._documents else text)
        self._documents += 1

    def raw(self, content: bytes) -> None:
        """Print bytes to stdout unchanged, without a line break."""
        stream, buffer = self._stdout, getattr(self._stdout, "buffer", None)
        if stream is None or buffer is None:
            _write(stream, content.decode("utf-8", "replace"), end="")
            return
        with _write_error(stream):
            stream.flush()
            buffer.write(content)
            buffer.flush()

    def note(self, text: str) -> None:
        """Print progress to stderr, unless `--quiet` is given."""
        if not self.quiet:
            _write(self._stderr, text)

    def detail(self, text: str, level: int = 1) -> None:
        """Print details to stderr if `-v` is given at least `level` times."""
        if self.verbosity >= level:
            self.note(text)

    def draw(self, text: str) -> None:
        """Write control sequences to the terminal on stderr; see `can_redraw`."""
        _write(self._stderr, text, end="")

    def print_problems(self, lines: Iterable[str]) -> None:
        """Print problems to stderr, even with `--quiet`."""
        _write(self._stderr, "\n".join(lines))

    def prompt(self, text: str) -> str:
        """Print a prompt to stderr and return the answer; Ctrl-D has the same effect as Ctrl-C."""
        _write(self._stderr, text, end="")
        line = self._stdin.readline() if self._stdin is not None else ""
        if not line:
            raise KeyboardInterrupt
        return line.rstrip("\r\n")

    def prompt_hidden(self, text: str) -> str:
        """Prompt without echoing the answer."""
        import termios

        descriptor = _descriptor(self._stdin)
        if descriptor is None:
            return self.prompt(text)
        before = termios.tcgetattr(descriptor)
        silent = list(before)
        silent[3] &= ~termios.ECHO
        termios.tcsetattr(descriptor, termios.TCSAFLUSH, silent)
        try:
            return self.prompt(text)
        finally:
            termios.tcsetattr(descriptor, termios.TCSAFLUSH, before)
            _write(self._stderr, "")

    def read_input(self) -> bytes:
        """Return everything from stdin."""
        if self._stdin is None:
            return b""
        buffer = getattr(self._stdin, "buffer", None)
        content: bytes = self._stdin.read().encode() if buffer is None else buffer.read()
        return content

    @property
    def can_prompt(self) -> bool:
        """Return whether prompts are possible: stdin and stderr are terminals."""
        return _is_terminal(self._stdin) and _is_terminal(self._stderr)

    @property
    def width(self) -> int | None:
        """Columns of the terminal on stdout; None: not a terminal, lines may have any length."""
        return self._width_of(self._stdout)

    @property
    def notes_width(self) -> int | None:
        """Columns of the terminal on stderr; None: not a terminal."""
        return self._width_of(self._stderr)

    @property
    def notes_height(self) -> int:
        """Lines of the terminal on stderr."""
        return layout.rows(self._environment, _descriptor(self._stderr))

    @property
    def can_redraw(self) -> bool:
        """Whether stderr is a terminal that supports control sequences."""
        capable = self._environment.get("TERM", "dumb") != "dumb"
        # Lines about requests would destroy a view that is redrawn.
        return capable and not self.quiet and not self.verbosity and _is_terminal(self._stderr)

    @property
    def help_width(self) -> int:
        """Columns for help; also limited in pipes."""
        return layout.help_width(self._environment, _descriptor(self._stdout))

    @property
    def paint(self) -> Paint:
        """How to color data; no colors unless stdout is a terminal."""
        return self._paint_on(self._stdout)

    @property
    def notes_paint(self) -> Paint:
        """How to color notes and problems."""
        return self._paint_on(self._stderr)

    @property
    def supports_unicode(self) -> bool:
        """Whether stdout can encode every character."""
        encoding = getattr(self._stdout, "encoding", None) or "utf-8"
        return encoding.lower().replace("_", "-") in ("utf-8", "utf8")

    def flush(self) -> None:
        """Flush all streams, and raise errors of earlier writes."""
        for stream in (self._stdout, self._stderr):
            _write(stream, "", end="")

    def abandon(self) -> None:
        """Detach broken streams, so that the interpreter prints no errors when it exits."""
        for stream in (self._stdout, self._stderr):
            _abandon(stream)

    def _width_of(self, stream: TextIO | None) -> int | None:
        if not _is_terminal(stream):
            return None
        return layout.columns(self._environment, _descriptor(stream))

    def _paint_on(self, stream: TextIO | None) -> Paint:
        return plain_text if self.colorless or not _is_terminal(stream) else paint_text


def process_screen() -> Screen:
    """Return the screen for the streams of this process."""
    return Screen(sys.stdin, sys.stdout, sys.stderr, os.environ)


def current_screen() -> Screen:
    """Return the screen of the running command."""
    context = click.get_current_context(silent=True)
    screen = context.find_object(Screen) if context is not None else None
    return screen if screen is not None else process_screen()


def _replace_unencodable(stream: TextIO | None) -> TextIO | None:
    if isinstance(stream, io.TextIOWrapper):
        with suppress(OSError):  # it flushes first; the next write raises the same error
            stream.reconfigure(errors="backslashreplace")
    return stream


def _write(stream: TextIO | None, text: str, end: str = "\n") -> None:
    if stream is None:
        return
    with _write_error(stream):
        stream.write(text + end)
        stream.flush()


@contextmanager
def _write_error(stream: TextIO) -> Iterator[None]:
    try:
        yield
    except BrokenPipeError as error:
        raise OutputClosed from error
    except OSError as error:
        from stockman.model.errors import StockmanError

        _abandon(stream)
        raise StockmanError(_unwritable(stream, error)) from error


def _unwritable(stream: TextIO, error: OSError) -> Problem:
    from stockman.model.problem import Problem

    return Problem(
        code="cli.output",
        what="the output cannot be written",
        where=str(getattr(stream, "name", "")),
        why=f"the operating system reports: {error.strerror or type(error).__name__}",
        fix="redirect the output to a writable file with enough free space",
    )


def _abandon(stream: TextIO | None) -> None:
    descriptor = _descriptor(stream)
    if descriptor is None:
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, descriptor)
    os.close(nowhere)


def _descriptor(stream: TextIO | None) -> int | None:
    if stream is None:
        return None
    try:
        return stream.fileno()
    except (OSError, ValueError):
        return None


def _is_terminal(stream: TextIO | None) -> bool:
    return stream is not None and not stream.closed and stream.isatty()
