"""Commits of some files, made beside the index: what others staged is neither seen nor lost."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Collection
from pathlib import Path, PurePosixPath

from stockman.adapters.git_repo.program import Git, complaint
from stockman.ports import repo_refusals as refusals

_NO_OBJECT = "0" * 40
_NONE_IGNORED = 1
"""What `check-ignore` ends with then."""
_UNFINISHED = {
    "MERGE_HEAD": "merge",
    "CHERRY_PICK_HEAD": "cherry-pick",
    "REVERT_HEAD": "revert",
    "rebase-merge": "rebase",
    "rebase-apply": "rebase",
}
_NOBODY = ("tell me who you are", "no name was given", "no email was given", "empty ident name")


async def made_commit(
    git: Git, branch: str, head: str | None, paths: Collection[str], message: str
) -> str | None:
    """A commit of paths on top of a branch. None: nothing differs."""
    wanted = sorted(set(paths))
    await _check(git, wanted)
    listed = b"".join(os.fsencode(path) + b"\0" for path in wanted)
    with tempfile.TemporaryDirectory(prefix="stockman-") as scratch:
        aside = {"GIT_INDEX_FILE": str(Path(scratch) / "index")}
        await git.told("read-tree", *([head] if head else ["--empty"]), variables=aside)
        await _update_index(git, listed, aside)
        tree = (await git.told("write-tree", variables=aside)).strip()
    if head is not None and tree == (await git.told("rev-parse", f"{head}^{{tree}}")).strip():
        return None
    if head is None and not (await git.told("ls-tree", tree)):
        return None
    made = await _committed(git, tree, head, message)
    # The index first: an interruption in between leaves files staged, and nothing undone.
    await _update_index(git, listed, {"GIT_OPTIONAL_LOCKS": "1"})
    said = await git.run(
        *("update-ref", "-m", f"commit: {message.partition(chr(10))[0]}"),
        *(f"refs/heads/{branch}", made, head or _NO_OBJECT),
    )
    if said.status != 0:
        raise refusals.moved(branch)
    return made


async def _committed(git: Git, tree: str, head: str | None, message: str) -> str:
    parents = ["-p", head] if head else []
    said = await git.run("commit-tree", *parents, "-F", "-", tree, given=f"{message}\n".encode())
    if said.status != 0:
        if any(sign in said.complaint for sign in _NOBODY):
            raise refusals.no_identity()
        raise refusals.rejected("git commit-tree", complaint(said))
    return said.text.strip()


async def _update_index(git: Git, listed: bytes, variables: dict[str, str]) -> None:
    await git.told(
        *("update-index", "--add", "--remove", "-z", "--stdin"), given=listed, variables=variables
    )


async def _check(git: Git, paths: list[str]) -> None:
    """Refuse paths that are no files of the work tree, and states that a commit would mix with."""
    for name, what in _UNFINISHED.items():
        found = (await git.told("rev-parse", "--git-path", name)).strip()
        if (git.directory / found).exists():
            raise refusals.unfinished(what)
    for path in paths:
        pure = PurePosixPath(path)
        if not path or pure.is_absolute() or ".." in pure.parts or str(pure) != path:
            raise refusals.bad_path(path, "it is not written as git writes paths")
        if ".git" in (part.lower() for part in pure.parts):
            raise refusals.bad_path(path, "it belongs to git itself")
        place = git.directory / path
        if place.is_dir() and not place.is_symlink():
            raise refusals.bad_path(path, "it is a directory")
        for parent in pure.parents:
            if (git.directory / parent).is_symlink():
                raise refusals.bad_path(path, "it is behind a link")
    listed = b"".join(os.fsencode(path) + b"\0" for path in paths)
    # Without `--no-index`, a file in the index does not count as ignored.
    ignored = await git.run("check-ignore", "-z", "--stdin", given=listed)
    if ignored.status > _NONE_IGNORED:
        raise refusals.rejected("git check-ignore", complaint(ignored))
    for path in ignored.text.split("\0"):
        if path:
            raise refusals.bad_path(path, "it is ignored, so it is not for everybody to see")
