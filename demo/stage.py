"""Plays the story in a directory of its own, which is gone afterwards."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple, Protocol

from rich.console import Console
from rich.text import Text

from demo.story import Edit, Enter, Run, Say, Scene

PROGRAM = (sys.executable, "-m", "stockman")
_SETTINGS = ("STOCKMAN_DIR", "STOCKMAN_OUTPUT")
"""Variables of the user that would change what the commands do."""


class Unexpected(Exception):
    """Something went otherwise than the story says."""


class Called(NamedTuple):
    """One call of the program."""

    arguments: list[str]
    directory: Path
    environment: dict[str, str]
    lines: int
    """How many lines of output there is room for, where room is short."""


class Actor(Protocol):
    """Whoever runs the program and shows what it prints."""

    def __call__(self, called: Called, console: Console) -> int:
        """The exit status of the call."""


def before_the_audience(called: Called, console: Console) -> int:
    """Run the program on the stdout of this process, so that it sees the user's terminal."""
    console.file.flush()
    return subprocess.run(
        [*PROGRAM, *called.arguments],
        cwd=called.directory,
        env=called.environment,
        stdin=subprocess.DEVNULL,
        stderr=subprocess.STDOUT,
        check=False,
    ).returncode


def play(story: Iterable[Scene], console: Console, actor: Actor = before_the_audience) -> None:
    """Show every scene; raise `Unexpected` at the first that does not end as it should."""
    with TemporaryDirectory(prefix="stockman-demo-") as home:
        directory = Path(home)
        earlier: Scene | None = None
        for scene in story:
            if isinstance(earlier, Run | Edit) and not isinstance(scene, Edit):
                console.print()
            match scene:
                case Say(text):
                    console.print(f"# {text}", style="bold")
                case Enter(name):
                    _prompt(console, f"cd {name}")
                    directory /= name
                case Edit():
                    _edit(scene, directory, console)
                case Run():
                    _run(scene, directory, console, actor)
            earlier = scene


def _run(scene: Run, directory: Path, console: Console, actor: Actor) -> None:
    _prompt(console, scene.line)
    environment = {name: value for name, value in os.environ.items() if name not in _SETTINGS}
    arguments = shlex.split(scene.arguments)
    status = actor(Called(arguments, directory, environment, scene.pictured), console)
    if status != scene.status:
        raise Unexpected(f"`{scene.line}` ended with {status} instead of {scene.status}")
    if status:
        console.print(f"(exit {status})", style="dim")


def _edit(scene: Edit, directory: Path, console: Console) -> None:
    path = directory / scene.file
    text = path.read_text("utf-8")
    if text.count(scene.before) != 1:
        raise Unexpected(f"{scene.file} has {scene.before!r} not once")
    path.write_text(text.replace(scene.before, scene.after), "utf-8")
    line = text[: text.index(scene.before)].count("\n") + 1
    place = f"{scene.file}:{line}:"
    console.print(
        Text.assemble((f"{place:16}", "dim"), (scene.before, "red"), " -> ", (scene.after, "green"))
    )


def _prompt(console: Console, line: str) -> None:
    console.print(Text.assemble(("$ ", "dim"), (line, "bold cyan")))
