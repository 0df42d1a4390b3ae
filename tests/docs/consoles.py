"""Runs the `console` blocks of a page in one shell, as a reader who follows the page would.

A line that starts with `$ ` is a command, `> ` continues it. Lines below it are what it prints;
`...` stands for any number of lines. A command has to end with 0, unless the next one is `echo $?`.
"""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from tests.docs.pages import NOT_RUN, ROOT, Block, blocks

_PATIENCE = 600
_MARK = "\x1e"


class Step(NamedTuple):
    """One command of a page."""

    place: str
    command: str
    shown: tuple[str, ...]
    """What the page says that it prints. Empty: the page does not say."""


class Ended(NamedTuple):
    """What became of a command."""

    status: int
    printed: tuple[str, ...]


def steps(page: Path) -> list[Step]:
    """The commands of a page that a test can run, in order."""
    return [
        step
        for block in blocks(page)
        if block.language == "console" and not NOT_RUN.fullmatch(block.above)
        for step in commands(block)
    ]


def commands(block: Block) -> list[Step]:
    """The commands of one block."""
    found: list[Step] = []
    for number, line in enumerate(block.lines, block.line + 1):
        if line.startswith("$ "):
            place = f"{block.page.relative_to(ROOT)}:{number}"
            found.append(Step(place, line.removeprefix("$ "), ()))
        elif line.startswith("> ") and found and not found[-1].shown:
            found[-1] = found[-1]._replace(command=f"{found[-1].command}\n{line[2:]}")
        elif found:
            found[-1] = found[-1]._replace(shown=(*found[-1].shown, line.rstrip()))
    return found


def run(lines: list[str], home: Path) -> list[Ended]:
    """Run command lines one after another in one shell that starts in an empty directory."""
    script = ["exec 2>&1 </dev/null"]
    for line in lines:
        script += [line, f"__ended=$?; printf '{_MARK}%s{_MARK}' $__ended; (exit $__ended)"]
    done = subprocess.run(
        ["bash", "--norc", "-c", "\n".join(script)],
        cwd=_made(home / "work"),
        env=_environment(home),
        stdout=subprocess.PIPE,
        encoding="utf-8",
        timeout=_PATIENCE,
        check=False,
    )
    parts = done.stdout.split(_MARK)
    return [
        Ended(int(status), tuple(line.rstrip() for line in text.removesuffix("\n").split("\n")))
        for text, status in zip(parts[::2], parts[1::2], strict=False)
    ]


def is_as_shown(printed: tuple[str, ...], shown: tuple[str, ...]) -> bool:
    """Whether output is what a page shows of it."""
    if not shown:
        return not printed
    if shown[0] == "...":
        return any(is_as_shown(printed[at:], shown[1:]) for at in range(len(printed) + 1))
    return bool(printed) and printed[0] == shown[0] and is_as_shown(printed[1:], shown[1:])


def made_anew(printed: tuple[str, ...], shown: tuple[str, ...]) -> tuple[str, ...] | None:
    """What a page should show: the same parts, whatever their numbers; None: they are gone."""
    if "..." not in shown:
        return printed
    found: list[str] = []
    start = 0
    for part in _parts(shown):
        known = [_without_numbers(line) for line in part]
        for at in range(start, len(printed) - len(part) + 1):
            if [_without_numbers(line) for line in printed[at : at + len(part)]] == known:
                found += printed[at : at + len(part)]
                start = at + len(part)
                break
        else:
            return None
        found.append("...")
    return tuple(found if shown[-1] == "..." else found[:-1])


def _parts(shown: tuple[str, ...]) -> list[tuple[str, ...]]:
    parts: list[tuple[str, ...]] = [()]
    for line in shown:
        if line == "...":
            parts.append(())
        else:
            parts[-1] = (*parts[-1], line)
    return parts if shown[-1] != "..." else parts[:-1]


def _without_numbers(line: str) -> str:
    return re.sub(r"\d+", "0", line)


def _environment(home: Path) -> dict[str, str]:
    programs = _made(home / "bin")
    launcher = programs / "stockman"
    launcher.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m stockman "$@"\n')
    launcher.chmod(0o755)
    git = {name: value for name, value in os.environ.items() if name.startswith("GIT_CONFIG_")}
    return {
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "PATH": os.pathsep.join([str(programs), os.environ.get("PATH", os.defpath)]),
        "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT / "lab" / "src")]),
        **git,
    }


def _made(directory: Path) -> Path:
    directory.mkdir(parents=True, exist_ok=True)
    return directory
