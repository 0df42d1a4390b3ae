"""Problems of reading and writing a rendered tree."""

from __future__ import annotations

from pathlib import Path

from stockman.adapters.file_tree import PartialWrite, PathOutsideTree
from stockman.model.problem import Problem


def out_of_tree(error: PathOutsideTree) -> Problem:
    """Return the problem of a path that cannot be written."""
    return Problem(
        code="render.out-of-tree",
        what=f"{error.path} cannot be rendered",
        where=error.path,
        why=error.why,
        fix="put a directory or a file of its own there",
    )


def unwritable(error: OSError) -> Problem:
    """Return the problem of a failed write."""
    if isinstance(error, PartialWrite):
        fix = "give the right to write, and render again: that ends what was begun"
    else:
        fix = "make room or give the right to write, and render again: nothing was changed"
    return Problem(
        code="render.unwritable",
        what="the files cannot be written",
        where=str(error.filename or ""),
        why=error.strerror or type(error).__name__,
        fix=fix,
    )


def unreadable(error: OSError, directory: Path) -> Problem:
    """Return the problem of a failed read; nothing was changed."""
    name = Path(str(error.filename or ""))
    if name.is_relative_to(directory):
        name = name.relative_to(directory)
    return Problem(
        code="render.unreadable",
        what=f"{name} cannot be read",
        where=str(name),
        why=error.strerror or type(error).__name__,
        fix="check that it is a file, and that you may read it: nothing was changed",
    )
