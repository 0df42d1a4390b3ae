"""Runs the steps of the demo."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import NamedTuple, Protocol

from demo.steps import ChangeDirectory, Command, Comment, ExportVariables, Step
from stockman.cli.terminal.screen import process_screen

PROGRAMS = {"stockman": (sys.executable, "-m", "stockman"), "git": ("git",)}
_SETTINGS = ("STOCKMAN_", "PROXMOX_", "GIT_", "KUBECONFIG", "TALOSCONFIG", "AWS_", "SOPS_")
"""Prefixes of environment variables that would change what the commands do."""
_GIT_IDENTITY = {
    "GIT_AUTHOR_NAME": "Demo",
    "GIT_AUTHOR_EMAIL": "demo@example.org",
    "GIT_COMMITTER_NAME": "Demo",
    "GIT_COMMITTER_EMAIL": "demo@example.org",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
}
_TERMINATE_SECONDS = 3.0
_MAX_LENGTH = 90
"""Characters of a command line on one line."""


class DemoFailed(Exception):
    """A command had an unexpected exit status."""


class ProgramCall(NamedTuple):
    """One call of a program."""

    command: list[str]
    directory: Path
    environment: dict[str, str]
    lines: int
    """Maximum number of output lines in the recording; negative: the last ones."""


class Console(Protocol):
    """Prints lines of the demo itself."""

    def __call__(self, text: str = "", style: str = "") -> None:
        """Print a line in a style of `stockman.cli.terminal.styles`."""


class ProgramRunner(Protocol):
    """Runs a program and shows its output."""

    def __call__(self, call: ProgramCall, console: Console) -> int:
        """Return the exit status."""


def print_line(text: str = "", style: str = "") -> None:
    """Print a line on the stdout of this process."""
    screen = process_screen()
    screen.data(screen.paint(text, style))


def run_in_terminal(call: ProgramCall, console: Console) -> int:
    """Run a program with the stdout of this process, which may be a terminal."""
    del console
    with subprocess.Popen(
        call.command,
        cwd=call.directory,
        env=call.environment,
        stdin=subprocess.DEVNULL,
        stderr=subprocess.STDOUT,
    ) as process:
        try:
            return process.wait()
        except BaseException:  # whatever stops the demo stops its program
            process.terminate()
            try:
                process.wait(_TERMINATE_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
            raise


@contextmanager
def stop_on_signals() -> Iterator[None]:
    """Handle SIGTERM and SIGHUP like Ctrl-C."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        del number, frame
        raise KeyboardInterrupt

    numbers = (signal.SIGTERM, signal.SIGHUP)
    before = [signal.signal(number, interrupt) for number in numbers]
    try:
        yield
    finally:
        for number, old in zip(numbers, before, strict=True):
            signal.signal(number, old)


def play(
    steps: Iterable[Step],
    console: Console,
    home: Path,
    run_program: ProgramRunner = run_in_terminal,
) -> None:
    """Run all steps; raises `DemoFailed` at the first unexpected exit status."""
    directory = home
    environment = _environment(home)
    earlier: Step | None = None
    for step in steps:
        if isinstance(step, Comment) and earlier is not None:
            console()
        match step:
            case Comment(text):
                console(f"# {text}", "heading")
            case ChangeDirectory(name):
                _prompt(console, f"cd {name}")
                directory /= name
            case ExportVariables():
                _prompt(console, step.line)
                environment |= _variables(step, directory, environment)
            case Command():
                _prompt(console, step.line)
                command = [*PROGRAMS[step.program], *shlex.split(step.arguments)]
                call = ProgramCall(command, directory, environment, step.recorded_lines)
                _check(step, run_program(call, console), console)
        earlier = step


def _environment(home: Path) -> dict[str, str]:
    names = [name for name in os.environ if not name.startswith(_SETTINGS)]
    variables = {name: os.environ[name] for name in names}
    if variables.pop("PYTHONDONTWRITEBYTECODE", ""):
        # Otherwise every command would compile all of stockman.
        variables["PYTHONPYCACHEPREFIX"] = str(home / ".compiled")
    return variables | _GIT_IDENTITY


def _check(step: Command, status: int, console: Console) -> None:
    if status != step.status:
        raise DemoFailed(f"`{step.line}` exited with {status} instead of {step.status}")
    if status:
        console(f"(exit {status})", "faint")


def _variables(
    step: ExportVariables, directory: Path, environment: dict[str, str]
) -> dict[str, str]:
    process = subprocess.run(
        [*PROGRAMS["stockman"], *shlex.split(step.arguments), "-o", "json"],
        cwd=directory,
        env=environment,
        capture_output=True,
        check=False,
    )
    if process.returncode:
        error = process.stderr.decode()
        raise DemoFailed(f"`{step.line}` exited with {process.returncode}: {error}")
    values = json.loads(process.stdout)["data"]
    return {str(name): str(value) for name, value in values.items()}


def wrap_command(line: str) -> list[str]:
    """Return a command line; a long one with its last option on its own line."""
    if len(line) <= _MAX_LENGTH:
        return [line]
    before, _, last = line.rpartition(" --")
    return [f"{before} \\", f"    --{last}"]


def _prompt(console: Console, line: str) -> None:
    first, *continuation = wrap_command(line)
    console(f"$ {first}", "name")
    for text in continuation:
        console(text, "name")
