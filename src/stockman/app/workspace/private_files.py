"""Write files that contain secrets in the clear."""

from __future__ import annotations

from pathlib import Path

from stockman.adapters.files import create_file
from stockman.adapters.git.probe import LocalGitProbe
from stockman.model.errors import Conflict, Refused, StockmanError
from stockman.model.problem import Problem
from stockman.ports.system import Entropy

_TAG_BYTES = 4


def write_private(path: Path, content: bytes, entropy: Entropy) -> None:
    """Create a file with mode 0600; refuse to replace one, or to write where git would track it."""
    if LocalGitProbe(path.parent).exposure(path.name) == "tracked":
        raise Refused(_in_git(path))
    try:
        created = create_file(
            path, content, private=True, tag=entropy.random_bytes(_TAG_BYTES).hex()
        )
    except OSError as error:
        raise StockmanError(_unwritable_file(path, error)) from None
    if not created:
        raise Conflict(_exists(path))


def _in_git(path: Path) -> Problem:
    return Problem(
        code="private-file.tracked",
        what=f"{path.name} would be written where git keeps it",
        where=str(path),
        why="it holds keys of the cluster in the clear, and history keeps them for ever",
        fix="name a file that git ignores, or one outside of the repository",
    )


def _exists(path: Path) -> Problem:
    return Problem(
        code="private-file.exists",
        what=f"{path.name} is there already",
        where=str(path),
        why="files with secrets are made once and never replaced",
        fix="move it away or remove it, then run the command again",
    )


def _unwritable_file(path: Path, error: OSError) -> Problem:
    return Problem(
        code="private-file.unwritable",
        what=f"{path.name} cannot be written",
        where=str(path),
        why=error.strerror or type(error).__name__,
        fix="check that the directory exists and that you may write there",
    )
