"""What is said when a machine configuration cannot be made or written."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from stockman.model.origin import Origin, Position
from stockman.model.problem import Problem, Severity


def no_such_node(path: str, name: str, known: Iterable[str]) -> Problem:
    from stockman.config.nearest import nearest

    near = nearest(name, sorted(known))
    return Problem(
        code="patch.no-node",
        what=f"{path} is a patch of no node",
        where=path,
        why=f"there is no node {name}, so that it changes nothing",
        fix=f"rename its directory to {near}" if near else "remove it, or rename its directory",
        severity=Severity.WARNING,
    )


def outside(name: str, origin: Origin) -> Problem:
    return Problem(
        code="patch.file",
        what=f"{origin.name} names a file outside of this directory",
        where=origin.at,
        why=f"@{name} would not be in the repository, and so not on another machine",
        fix="copy the file to below this directory, and name it from here: @./patches/NAME.yaml",
    )


def unreadable(name: str, error: OSError, origin: Origin | None) -> Problem:
    return Problem(
        code="patch.file",
        what=f"the patch {name} cannot be read",
        where=name if origin is None else origin.at,
        why=error.strerror or type(error).__name__,
        fix="check the path, which starts at the directory of the configuration",
    )


def unreadable_file(path: Path, error: OSError) -> Problem:
    return Problem(
        code="workspace.unreadable",
        what=f"{path.name} cannot be read",
        where=str(path),
        why=error.strerror or type(error).__name__,
        fix="check that it is a file that you may read",
    )


def template(name: str, at: Position) -> Problem:
    return Problem(
        code="patch.template",
        what=f"the patch {name} is a template",
        where=at,
        why="here talhelper or topf would fill something in, and stockman does not",
        fix="write the value itself, or move the patch to `talos.patches`, which stays as it is",
    )


def exposed(path: Path) -> Problem:
    return Problem(
        code="config.exposed-output",
        what=f"{path} would be kept by git",
        where=str(path),
        why="a machine configuration holds the keys of the cluster, and history keeps them",
        fix="choose a directory outside of the repository, or one that .gitignore names",
    )


def unwritable(path: Path, error: OSError) -> Problem:
    return Problem(
        code="config.unwritable",
        what=f"{path} cannot be written",
        where=str(path),
        why=error.strerror or type(error).__name__,
        fix="choose a directory that you may write to",
    )


def no_cluster() -> Problem:
    return Problem(
        code="config.no-such-node",
        what="there are no nodes",
        why="the configuration describes guests and hosts only",
        fix="add nodes, or run the command where the nodes are",
    )


def no_such(name: str, known: Iterable[str]) -> Problem:
    from stockman.config.nearest import nearest

    names = list(known)
    near = nearest(name, names)
    return Problem(
        code="config.no-such-node",
        what=f"there is no node {name}",
        why=f"the nodes are {', '.join(names)}",
        fix=f"try {near}" if near else "name one of them",
    )
