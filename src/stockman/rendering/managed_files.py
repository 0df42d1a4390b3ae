"""Whose a file is: what rendering may write, must leave alone, or has to ask for."""

from __future__ import annotations

import hashlib
import json
import posixpath
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from difflib import unified_diff
from enum import Enum

from stockman.catalog.app import SECRET_MARK
from stockman.config.nearest import nearest_name
from stockman.model.errors import Rejected, WrongUsage
from stockman.model.problem import Problem
from stockman.model.record import record


@record
class ManagedFile:
    """A file that rendering wrote, as it wrote it."""

    digest: str
    """SHA-256 of its bytes as rendered."""
    component: str
    accepted: str = ""
    """SHA-256 of the user's own version, where that was accepted in its place."""


class FileAction(Enum):
    """What rendering does with a file."""

    CREATE = "create"
    UPDATE = "update"
    KEEP = "keep"
    """As it should be."""
    EDITED = "edited"
    """Ours, but changed by hand: kept until the user decides."""
    FOREIGN = "foreign"
    """Not ours, and in the way: never touched."""
    STALE = "stale"
    """Ours, and no longer rendered: kept until the user prunes."""
    REMOVE = "remove"
    ACCEPT = "accept"
    """The user's version, and from now on meant so."""
    ACCEPTED = "accepted"
    """Changed by hand, and meant so since the last change of what is rendered."""

    @property
    def writes(self) -> bool:
        """Whether the file on disk changes."""
        return self in (FileAction.CREATE, FileAction.UPDATE, FileAction.REMOVE)

    @property
    def needs_a_decision(self) -> bool:
        return self in (FileAction.EDITED, FileAction.FOREIGN)


@record
class FileChange:
    """One file, what becomes of it, and its bytes before and after."""

    path: str
    act: FileAction
    component: str
    before: bytes | None
    """None: there is no such file."""
    after: bytes | None
    """None: it is not rendered."""


@record
class FileDecisions:
    """What the user decided about single files."""

    overwrite: frozenset[str] = frozenset()
    accept: frozenset[str] = frozenset()
    prune: bool = False


@record
class DesiredFile:
    """A file as it should be on disk."""

    path: str
    component: str
    content: bytes


def plan_file_changes(
    wanted: Iterable[DesiredFile],
    disk: Mapping[str, bytes],
    owned: Mapping[str, ManagedFile],
    wishes: FileDecisions,
) -> tuple[FileChange, ...]:
    """What becomes of every file, by path."""
    files = {one.path: one for one in wanted}
    found = [
        _change_for_file(one, disk.get(one.path), owned.get(one.path), wishes)
        for one in files.values()
    ]
    found += [
        _stale_changes(path, disk[path], own, wishes)
        for path, own in owned.items()
        if path not in files and path in disk
    ]
    return tuple(sorted(found, key=lambda action: action.path))


def _change_for_file(
    one: DesiredFile, before: bytes | None, own: ManagedFile | None, wishes: FileDecisions
) -> FileChange:
    return FileChange(
        path=one.path,
        act=_choose_action(one, before, own, wishes),
        component=one.component,
        before=before,
        after=one.content,
    )


def _choose_action(
    one: DesiredFile, before: bytes | None, own: ManagedFile | None, wishes: FileDecisions
) -> FileAction:
    if before is None:
        return FileAction.CREATE
    if before == one.content:
        return FileAction.KEEP
    if one.path in wishes.overwrite:
        return FileAction.UPDATE
    if own is None:
        return FileAction.ACCEPT if one.path in wishes.accept else FileAction.FOREIGN
    there = digest(before)
    if there == own.digest:
        return FileAction.UPDATE
    if there == own.accepted and digest(one.content) == own.digest:
        return FileAction.ACCEPTED
    return FileAction.ACCEPT if one.path in wishes.accept else FileAction.EDITED


def _stale_changes(path: str, before: bytes, own: ManagedFile, wishes: FileDecisions) -> FileChange:
    edited = digest(before) != own.digest
    act = FileAction.STALE
    if path in wishes.accept:
        act = FileAction.ACCEPT
    elif wishes.prune:
        act = FileAction.EDITED if edited and path not in wishes.overwrite else FileAction.REMOVE
    return FileChange(path=path, act=act, component=own.component, before=before, after=None)


def next_managed_files(
    done: Iterable[FileChange], owned: Mapping[str, ManagedFile], failed: Collection[str] = ()
) -> dict[str, ManagedFile]:
    """What the lock says once the actions were carried out, apart from those that failed."""
    result = dict(owned)
    for action in done:
        if action.path in failed:
            continue
        if action.act is FileAction.REMOVE or (
            action.act is FileAction.ACCEPT and action.after is None
        ):
            result.pop(action.path, None)
        elif action.after is not None and action.act in _RECORDED_ACTIONS:
            accepted = action.act is FileAction.ACCEPT and action.before is not None
            result[action.path] = ManagedFile(
                digest=digest(action.after),
                component=action.component,
                accepted=digest(action.before or b"") if accepted else "",
            )
    return dict(sorted(result.items()))


_RECORDED_ACTIONS = (FileAction.CREATE, FileAction.UPDATE, FileAction.KEEP, FileAction.ACCEPT)


def digest(content: bytes) -> str:
    """The hash that the lock keeps of a file."""
    return hashlib.sha256(content).hexdigest()


LOCK_PATH = ".stockman/rendered.lock"
_SCHEMA = 1


def lock_text(owned: Mapping[str, ManagedFile]) -> str:
    """The lock as file: one line per entry, sorted, so that merges stay small."""
    lines = [
        f"    {json.dumps(path)}: {json.dumps(_entry(one), sort_keys=True)}"
        for path, one in sorted(owned.items())
    ]
    body = ",\n".join(lines)
    files = f"{{\n{body}\n  }}" if lines else "{}"
    return f'{{\n  "schema": {_SCHEMA},\n  "files": {files}\n}}\n'


def read_lock(text: str) -> dict[str, ManagedFile]:
    """What a lock says; raises Rejected for one that this version did not write."""
    try:
        content = json.loads(text)
    except ValueError as error:
        raise Rejected(_invalid_lock(f"it is no JSON: {error}")) from None
    if not isinstance(content, dict) or content.get("schema") != _SCHEMA:
        raise Rejected(_invalid_lock(f"its schema is not {_SCHEMA}"))
    files = content.get("files")
    if not isinstance(files, dict):
        raise Rejected(_invalid_lock("it has no list of files"))
    return {path: _parse_entries(path, entry) for path, entry in files.items()}


def _entry(one: ManagedFile) -> dict[str, str]:
    entry = {"component": one.component, "sha256": one.digest}
    return entry | {"accepted": one.accepted} if one.accepted else entry


def _parse_entries(path: str, entry: object) -> ManagedFile:
    if not isinstance(entry, dict):
        raise Rejected(_invalid_lock(f"the entry of {path} is no mapping"))
    texts = [entry.get(key, "") for key in ("sha256", "component", "accepted")]
    if not all(isinstance(text, str) for text in texts) or not texts[0]:
        raise Rejected(_invalid_lock(f"the entry of {path} has no hash"))
    digest, component, accepted = (str(text) for text in texts)
    return ManagedFile(digest=digest, component=component, accepted=accepted)


def _invalid_lock(why: str) -> Problem:
    return Problem(
        code="render.lock",
        what="the list of rendered files cannot be read",
        where=LOCK_PATH,
        why=why,
        fix="restore the file from git; without it no file of yours is told from a rendered one",
    )


_HEADER_LINES = 2


def file_difference(action: FileChange) -> Iterator[str]:
    """Lines that start with `+`, `-`, `@` or a space."""
    if action.before == action.after:
        return
    # `.sops.yaml` itself holds rules, and no secret.
    if SECRET_MARK in action.path.rpartition("/")[2][1:]:
        yield "@ a secret file: its values are not shown"
        return
    before, after = _lines(action.before), _lines(action.after)
    found = unified_diff(before, after, lineterm="", n=2)
    for number, line in enumerate(found):
        if number >= _HEADER_LINES:
            yield line


def _lines(content: bytes | None) -> list[str]:
    return [] if content is None else content.decode(errors="replace").splitlines()


def resolve_decisions(wishes: FileDecisions, paths: Collection[str]) -> FileDecisions:
    """Wishes about single files; a directory stands for all files of ours in it.

    Refuses a path at which nothing is rendered, and a file that is both to stay and to go.
    """
    overwrite = _files("--overwrite", wishes.overwrite, paths)
    accept = _files("--accept", wishes.accept, paths)
    both = sorted(overwrite & accept)
    if both:
        raise WrongUsage(_contradiction(both[0]))
    return replace(wishes, overwrite=overwrite, accept=accept)


def _files(option: str, wished: Collection[str], paths: Collection[str]) -> frozenset[str]:
    found: set[str] = set()
    for written in sorted(wished):
        path = posixpath.normpath(written)
        meant = {one for one in paths if one == path or one.startswith(f"{path}/")}
        if not meant:
            raise WrongUsage(_unknown(option, written, paths))
        found |= meant
    return frozenset(found)


def _unknown(option: str, path: str, paths: Collection[str]) -> Problem:
    meant = nearest_name(path, sorted(paths))
    return Problem(
        code="render.path",
        what=f"{option} names {path}, which stockman does not render",
        why="only rendered files can be overwritten or accepted, by their path from the top",
        fix=f"did you mean {meant}?" if meant else "`stockman render --tree` lists all files",
    )


def _contradiction(path: str) -> Problem:
    return Problem(
        code="render.path",
        what=f"{path} is to be overwritten and to be accepted",
        why="the one replaces your version, the other keeps it",
        fix="give the file to one of --overwrite and --accept",
    )
