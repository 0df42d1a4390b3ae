"""What is said of directories of other tools that cannot be taken over."""

from __future__ import annotations

import re

from stockman.model.origin import Position
from stockman.model.problem import Problem
from stockman.model.support import talos_lines
from stockman.model.version import Version
from stockman.talos.imports.foreign import Foreign
from stockman.talos.imports.go_template import NotUnderstood

LAST_STYLE = (1, 13)
"""The newest contract in which other tools make machines as Talos itself does."""
_VERSION = re.compile(r"v?(\d+)\.(\d+)\.\d+\S*")


def take_contract(foreign: Foreign, text: str, at: Position) -> bool:
    """Take the style of machines from a version; False: it is none that is known."""
    found = _VERSION.fullmatch(text) if _is_version(text) else None
    lines = [line.line.minor_text for line in talos_lines()]
    if found is not None and f"{found[1]}.{found[2]}" in lines:
        line = (int(found[1]), int(found[2]))
        foreign.contract = ".".join(map(str, min(line, LAST_STYLE)))
        if line > LAST_STYLE:
            foreign.notes.append(
                f"{foreign.tool} knows a draft of the style of Talos {found[1]}.{found[2]}; "
                f"machines are written, and compared, in that of {foreign.contract}"
            )
        return True
    foreign.problems.add(
        Problem(
            code="import.version",
            what=f"{text!r} is no version of Talos that is known here",
            where=at,
            why=f"what a machine is told depends on it; known are {lines[0]} to {lines[-1]}",
            fix=f"write a version such as v{lines[-1]}.1, or upgrade the cluster first",
        )
    )
    return False


def check_kubernetes(foreign: Foreign, text: str, at: Position) -> None:
    """Tell of a version of Kubernetes that is none."""
    if not _is_version(text):
        foreign.problems.add(
            Problem(
                code="import.version",
                what=f"{text!r} is no version of Kubernetes",
                where=at,
                why="every machine is told which images to run",
                fix="write a version such as v1.36.0",
            )
        )


def _is_version(text: str) -> bool:
    try:
        Version.parse(text.removeprefix("v"))
    except ValueError:
        return False
    return True


def missing_file(path: str, where: Position | str, tool: str) -> Problem:
    return Problem(
        code="import.missing-file",
        what=f"{path} does not exist",
        where=where,
        why=f"{tool} would stop here as well",
        fix="put the file there, or remove what names it",
    )


def missing_key(key: str, at: Position, tool: str) -> Problem:
    return Problem(
        code="config.missing-key",
        what=f"{key} is missing",
        where=at,
        why=f"{tool} cannot do without it, and nothing is guessed here",
        fix=f"add `{key.rpartition('.')[2]}:`",
    )


def no_nodes(at: Position) -> Problem:
    return Problem(
        code="import.no-nodes",
        what=f"{at.file} names no nodes",
        where=at,
        why="a cluster without machines has nothing to take over",
        fix="check that this is the right directory",
    )


def no_mapping(what: str, at: Position) -> Problem:
    return Problem(
        code="config.not-a-mapping",
        what=f"{what} is no mapping of keys",
        where=at,
        why="a node has keys, such as its name and address",
        fix="write the node's keys",
    )


def no_patch(what: str, at: Position, tool: str) -> Problem:
    return Problem(
        code="patch.form",
        what=f"{what} is not a part of a configuration",
        where=at,
        why=f"{tool} takes texts of keys, or files with keys in them",
        fix="write keys, such as `machine: {sysctls: {...}}`",
    )


def bad_template(label: str, error: NotUnderstood) -> Problem:
    return Problem(
        code="import.template",
        what=f"{label} is a template that is not understood",
        where=error.at,
        why=error.why,
        fix="write what it gives into the patch, or one patch per node",
    )
