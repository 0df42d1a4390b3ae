"""Plays the story in a directory of its own."""

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

from demo.story import Enter, Export, Run, Say, Scene
from stockman.cli.terminal.screen import process_screen

PROGRAMS = {"stockman": (sys.executable, "-m", "stockman"), "git": ("git",)}
_SETTINGS = ("STOCKMAN_", "PROXMOX_", "GIT_", "KUBECONFIG", "TALOSCONFIG", "AWS_", "SOPS_")
"""How variables of the user begin that would change what the commands do."""
_PERSON = {
    "GIT_AUTHOR_NAME": "Demo",
    "GIT_AUTHOR_EMAIL": "demo@example.org",
    "GIT_COMMITTER_NAME": "Demo",
    "GIT_COMMITTER_EMAIL": "demo@example.org",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
}
_FAREWELL = 3.0
_LONGEST = 90
"""Characters of a command line on one line."""


class Unexpected(Exception):
    """Something went otherwise than the story says."""


class Called(NamedTuple):
    """One call of a program."""

    command: list[str]
    directory: Path
    environment: dict[str, str]
    lines: int
    """How many lines of output there is room for, where room is short; negative: the last ones."""


class Console(Protocol):
    """Where the demo prints its own lines."""

    def __call__(self, text: str = "", style: str = "") -> None:
        """Print a line in a style of `stockman.cli.terminal.styles`."""


class Actor(Protocol):
    """Whoever runs a program and shows what it prints."""

    def __call__(self, called: Called, console: Console) -> int:
        """The exit status of the call."""


def print_line(text: str = "", style: str = "") -> None:
    """Print a line on the stdout of this process."""
    screen = process_screen()
    screen.data(screen.paint(text, style))


def before_the_audience(called: Called, console: Console) -> int:
    """Run a program on the stdout of this process, so that it sees the user's terminal."""
    del console
    with subprocess.Popen(
        called.command,
        cwd=called.directory,
        env=called.environment,
        stdin=subprocess.DEVNULL,
        stderr=subprocess.STDOUT,
    ) as process:
        try:
            return process.wait()
        except BaseException:  # whatever ends the demo ends what it runs
            process.terminate()
            try:
                process.wait(_FAREWELL)
            except subprocess.TimeoutExpired:
                process.kill()
            raise


@contextmanager
def ended_in_order() -> Iterator[None]:
    """Have a request to end, or a terminal that is closed, end the demo like Ctrl-C does."""

    def end(number: int, frame: FrameType | None) -> None:
        del number, frame
        raise KeyboardInterrupt

    numbers = (signal.SIGTERM, signal.SIGHUP)
    before = [signal.signal(number, end) for number in numbers]
    try:
        yield
    finally:
        for number, old in zip(numbers, before, strict=True):
            signal.signal(number, old)


def play(
    story: Iterable[Scene], console: Console, home: Path, actor: Actor = before_the_audience
) -> None:
    """Show every scene; raise `Unexpected` at the first that does not end as it should."""
    directory = home
    environment = _environment(home)
    earlier: Scene | None = None
    for scene in story:
        if isinstance(scene, Say) and earlier is not None:
            console()
        match scene:
            case Say(text):
                console(f"# {text}", "heading")
            case Enter(name):
                _prompt(console, f"cd {name}")
                directory /= name
            case Export():
                _prompt(console, scene.line)
                environment |= _variables(scene, directory, environment)
            case Run():
                _prompt(console, scene.line)
                command = [*PROGRAMS[scene.program], *shlex.split(scene.arguments)]
                called = Called(command, directory, environment, scene.pictured)
                _check(scene, actor(called, console), console)
        earlier = scene


def _environment(home: Path) -> dict[str, str]:
    found = {name: value for name, value in os.environ.items() if not name.startswith(_SETTINGS)}
    if found.pop("PYTHONDONTWRITEBYTECODE", ""):
        # Else every command would compile all of stockman anew.
        found["PYTHONPYCACHEPREFIX"] = str(home / ".compiled")
    return found | _PERSON


def _check(scene: Run, status: int, console: Console) -> None:
    if status != scene.status:
        raise Unexpected(f"`{scene.line}` ended with {status} instead of {scene.status}")
    if status:
        console(f"(exit {status})", "faint")


def _variables(scene: Export, directory: Path, environment: dict[str, str]) -> dict[str, str]:
    done = subprocess.run(
        [*PROGRAMS["stockman"], *shlex.split(scene.arguments), "-o", "json"],
        cwd=directory,
        env=environment,
        capture_output=True,
        check=False,
    )
    if done.returncode:
        raise Unexpected(f"`{scene.line}` ended with {done.returncode}: {done.stderr.decode()}")
    found = json.loads(done.stdout)["data"]
    return {str(name): str(value) for name, value in found.items()}


def typed(line: str) -> list[str]:
    """A command line as it is typed: with its options on lines of their own if it is long."""
    if len(line) <= _LONGEST:
        return [line]
    before, _, last = line.rpartition(" --")
    return [f"{before} \\", f"    --{last}"]


def _prompt(console: Console, line: str) -> None:
    first, *rest = typed(line)
    console(f"$ {first}", "name")
    for continued in rest:
        console(continued, "name")
