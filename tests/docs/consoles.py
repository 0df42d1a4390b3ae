"""Run the `console` blocks of a page in one shell.

A line that starts with `$ ` is a command, `> ` continues it. The lines below are its output; `...`
stands for any number of lines. A command must exit with 0, unless the next one is `echo $?`.
"""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from tests.docs.pages import NOT_RUN, ROOT, Block, blocks

_TIMEOUT = 600
_MARK = "\x1e"


class Step(NamedTuple):
    """One command of a page."""

    position: str
    command: str
    shown: tuple[str, ...]
    """Output that the page shows. Empty: none."""


class CommandResult(NamedTuple):
    """Exit status and output of a command."""

    status: int
    printed: tuple[str, ...]


def steps(page: Path) -> list[Step]:
    """Return the commands of a page that a test can run, in order."""
    return [
        step
        for block in blocks(page)
        if block.language == "console" and not NOT_RUN.fullmatch(block.above)
        for step in commands(block)
    ]


def commands(block: Block) -> list[Step]:
    """Return the commands of one block."""
    steps: list[Step] = []
    for number, line in enumerate(block.lines, block.line + 1):
        if line.startswith("$ "):
            position = f"{block.page.relative_to(ROOT)}:{number}"
            steps.append(Step(position, line.removeprefix("$ "), ()))
        elif line.startswith("> ") and steps and not steps[-1].shown:
            steps[-1] = steps[-1]._replace(command=f"{steps[-1].command}\n{line[2:]}")
        elif steps:
            steps[-1] = steps[-1]._replace(shown=(*steps[-1].shown, line.rstrip()))
    return steps


def run(lines: list[str], home: Path) -> list[CommandResult]:
    """Run command lines in one shell that starts in an empty directory."""
    script = ["exec 2>&1 </dev/null"]
    for line in lines:
        script += [line, f"__ended=$?; printf '{_MARK}%s{_MARK}' $__ended; (exit $__ended)"]
    done = subprocess.run(
        ["bash", "--norc", "-c", "\n".join(script)],
        cwd=_create(home / "work"),
        env=_environment(home),
        stdout=subprocess.PIPE,
        encoding="utf-8",
        timeout=_TIMEOUT,
        check=False,
    )
    outputs = done.stdout.split(_MARK)
    return [
        CommandResult(int(status), _output_lines(text))
        for text, status in zip(outputs[::2], outputs[1::2], strict=False)
    ]


def _output_lines(text: str) -> tuple[str, ...]:
    return tuple(line.rstrip() for line in text.removesuffix("\n").split("\n"))


def matches_shown(printed: tuple[str, ...], shown: tuple[str, ...]) -> bool:
    """Whether output is as shown in a page."""
    if not shown:
        return not printed
    if shown[0] == "...":
        return any(matches_shown(printed[at:], shown[1:]) for at in range(len(printed) + 1))
    return bool(printed) and printed[0] == shown[0] and matches_shown(printed[1:], shown[1:])


def update_shown(printed: tuple[str, ...], shown: tuple[str, ...]) -> tuple[str, ...] | None:
    """Return what a page should show: the same lines with new numbers. None: they do not exist."""
    if "..." not in shown:
        return printed
    lines: list[str] = []
    start = 0
    for block in _blocks(shown):
        known = [_without_numbers(line) for line in block]
        for at in range(start, len(printed) - len(block) + 1):
            if [_without_numbers(line) for line in printed[at : at + len(block)]] == known:
                lines += printed[at : at + len(block)]
                start = at + len(block)
                break
        else:
            return None
        lines.append("...")
    return tuple(lines if shown[-1] == "..." else lines[:-1])


def _blocks(shown: tuple[str, ...]) -> list[tuple[str, ...]]:
    blocks: list[tuple[str, ...]] = [()]
    for line in shown:
        if line == "...":
            blocks.append(())
        else:
            blocks[-1] = (*blocks[-1], line)
    return blocks if shown[-1] != "..." else blocks[:-1]


def _without_numbers(line: str) -> str:
    return re.sub(r"\d+", "0", line)


def _environment(home: Path) -> dict[str, str]:
    programs = _create(home / "bin")
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


def _create(directory: Path) -> Path:
    directory.mkdir(parents=True, exist_ok=True)
    return directory
