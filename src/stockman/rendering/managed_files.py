"""Managed files: which files rendering may write, what to do with each, and the lock file."""

from __future__ import annotations

import hashlib
import json
import posixpath
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from enum import Enum

from stockman.catalog.app import SECRET_MARK
from stockman.config.nearest import nearest_name
from stockman.model.errors import Rejected, WrongUsage
from stockman.model.problem import Problem
from stockman.model.record import record


@record
class ManagedFile:
    """A managed file as it was rendered."""

    digest: str
    """SHA-256 of the rendered content."""
    component: str
    accepted: str = ""
    """SHA-256 of the user's version, if it was accepted instead."""


class FileAction(Enum):
    """What rendering does with a file."""

    CREATE = "create"
    UPDATE = "update"
    KEEP = "keep"
    """Unchanged."""
    EDITED = "edited"
    """Managed, but changed by hand: kept until the user decides."""
    FOREIGN = "foreign"
    """Exists and is not managed: never changed."""
    STALE = "stale"
    """Managed, and no longer rendered: kept until the user prunes."""
    REMOVE = "remove"
    ACCEPT = "accept"
    """The user's version is accepted from now on."""
    ACCEPTED = "accepted"
    """Accepted earlier, and unchanged since."""

    @property
    def writes(self) -> bool:
        """Whether the file on disk changes."""
        return self in (FileAction.CREATE, FileAction.UPDATE, FileAction.REMOVE)

    @property
    def needs_a_decision(self) -> bool:
        return self in (FileAction.EDITED, FileAction.FOREIGN)


@record
class FileChange:
    """A file, its action, and its content before and after."""

    path: str
    act: FileAction
    component: str
    before: bytes | None
    """None: the file does not exist."""
    after: bytes | None
    """None: it is not rendered."""


@record
class FileDecisions:
    """Decisions of the user about single files."""

    overwrite: frozenset[str] = frozenset()
    accept: frozenset[str] = frozenset()
    prune: bool = False


@record
class DesiredFile:
    """A file that should be on disk."""

    path: str
    component: str
    content: bytes


def plan_file_changes(
    desired: Iterable[DesiredFile],
    disk: Mapping[str, bytes],
    owned: Mapping[str, ManagedFile],
    decisions: FileDecisions,
) -> tuple[FileChange, ...]:
    """Return the action for each file, by path."""
    files = {file.path: file for file in desired}
    changes = [
        _change_for_file(file, disk.get(file.path), owned.get(file.path), decisions)
        for file in files.values()
    ]
    changes += [
        _stale_changes(path, disk[path], own, decisions)
        for path, own in owned.items()
        if path not in files and path in disk
    ]
    return tuple(sorted(changes, key=lambda action: action.path))


def _change_for_file(
    file: DesiredFile, before: bytes | None, own: ManagedFile | None, decisions: FileDecisions
) -> FileChange:
    return FileChange(
        path=file.path,
        act=_choose_action(file, before, own, decisions),
        component=file.component,
        before=before,
        after=file.content,
    )


def _choose_action(
    file: DesiredFile, before: bytes | None, own: ManagedFile | None, decisions: FileDecisions
) -> FileAction:
    if before is None:
        return FileAction.CREATE
    if before == file.content:
        return FileAction.KEEP
    if file.path in decisions.overwrite:
        return FileAction.UPDATE
    if own is None:
        return FileAction.ACCEPT if file.path in decisions.accept else FileAction.FOREIGN
    current_digest = digest(before)
    if current_digest == own.digest:
        return FileAction.UPDATE
    if current_digest == own.accepted and digest(file.content) == own.digest:
        return FileAction.ACCEPTED
    return FileAction.ACCEPT if file.path in decisions.accept else FileAction.EDITED


def _stale_changes(
    path: str, before: bytes, own: ManagedFile, decisions: FileDecisions
) -> FileChange:
    edited = digest(before) != own.digest
    act = FileAction.STALE
    if path in decisions.accept:
        act = FileAction.ACCEPT
    elif decisions.prune:
        act = FileAction.EDITED if edited and path not in decisions.overwrite else FileAction.REMOVE
    return FileChange(path=path, act=act, component=own.component, before=before, after=None)


def next_managed_files(
    done: Iterable[FileChange], owned: Mapping[str, ManagedFile], failed: Collection[str] = ()
) -> dict[str, ManagedFile]:
    """Return the managed files after the actions, except for failed ones."""
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
    """Return the hash that the lock file contains for a file."""
    return hashlib.sha256(content).hexdigest()


LOCK_PATH = ".stockman/rendered.lock"
_SCHEMA = 1


def lock_text(owned: Mapping[str, ManagedFile]) -> str:
    """Return the lock file: one line per entry, sorted, to keep merges small."""
    lines = [
        f"    {json.dumps(path)}: {json.dumps(_entry(entry), sort_keys=True)}"
        for path, entry in sorted(owned.items())
    ]
    body = ",\n".join(lines)
    files = f"{{\n{body}\n  }}" if lines else "{}"
    return f'{{\n  "schema": {_SCHEMA},\n  "files": {files}\n}}\n'


def read_lock(text: str) -> dict[str, ManagedFile]:
    """Parse a lock file; raises Rejected for one of another version."""
    try:
        content = json.loads(text)
    except ValueError as error:
        raise Rejected(_invalid_lock(f"it is not valid JSON: {error}")) from None
    if not isinstance(content, dict) or content.get("schema") != _SCHEMA:
        raise Rejected(_invalid_lock(f"its schema is not {_SCHEMA}"))
    files = content.get("files")
    if not isinstance(files, dict):
        raise Rejected(_invalid_lock("it has no list of files"))
    return {path: _parse_entries(path, entry) for path, entry in files.items()}


def _entry(file: ManagedFile) -> dict[str, str]:
    entry = {"component": file.component, "sha256": file.digest}
    return entry | {"accepted": file.accepted} if file.accepted else entry


def _parse_entries(path: str, entry: object) -> ManagedFile:
    if not isinstance(entry, dict):
        raise Rejected(_invalid_lock(f"the entry of {path} is not a mapping"))
    texts = [entry.get(key, "") for key in ("sha256", "component", "accepted")]
    if not all(isinstance(text, str) for text in texts) or not texts[0]:
        raise Rejected(_invalid_lock(f"the entry of {path} has no hash"))
    digest, component, accepted = (str(text) for text in texts)
    return ManagedFile(digest=digest, component=component, accepted=accepted)


def _invalid_lock(why: str) -> Problem:
    return Problem(
        code="render.lock",
        what="the lock file of rendered files cannot be read",
        where=LOCK_PATH,
        why=why,
        fix="restore the file from git; it is needed to distinguish rendered files from your own",
    )


_HEADER_LINES = 2


def file_difference(action: FileChange) -> Iterator[str]:
    """Return the lines of a unified diff, which start with `+`, `-`, `@` or a space."""
    if action.before == action.after:
        return
    # `.sops.yaml` itself contains rules, not secrets.
    if SECRET_MARK in action.path.rpartition("/")[2][1:]:
        yield "@ secret file: values are not shown"
        return
    from difflib import unified_diff  # slow to import, and needed for no other purpose

    before, after = _lines(action.before), _lines(action.after)
    lines = unified_diff(before, after, lineterm="", n=2)
    for number, line in enumerate(lines):
        if number >= _HEADER_LINES:
            yield line


def _lines(content: bytes | None) -> list[str]:
    return [] if content is None else content.decode(errors="replace").splitlines()


def resolve_decisions(decisions: FileDecisions, paths: Collection[str]) -> FileDecisions:
    """Resolve decisions to single files; a directory stands for all managed files in it.

    Refuses a path that is not rendered, and a file that is to be both overwritten and accepted.
    """
    overwrite = _files("--overwrite", decisions.overwrite, paths)
    accept = _files("--accept", decisions.accept, paths)
    both = sorted(overwrite & accept)
    if both:
        raise WrongUsage(_contradiction(both[0]))
    return replace(decisions, overwrite=overwrite, accept=accept)


def _files(option: str, wished: Collection[str], paths: Collection[str]) -> frozenset[str]:
    files: set[str] = set()
    for written in sorted(wished):
        path = posixpath.normpath(written)
        meant = {file for file in paths if file == path or file.startswith(f"{path}/")}
        if not meant:
            raise WrongUsage(_unknown(option, written, paths))
        files |= meant
    return frozenset(files)


def _unknown(option: str, path: str, paths: Collection[str]) -> Problem:
    meant = nearest_name(path, sorted(paths))
    return Problem(
        code="render.path",
        what=f"{option} selects {path}, which stockman does not render",
        why="only rendered files can be selected, by their path in the repository",
        fix=f"did you mean {meant}?" if meant else "`stockman render --tree` lists all files",
    )


def _contradiction(path: str) -> Problem:
    return Problem(
        code="render.path",
        what=f"{path} is both overwritten and accepted",
        why="--overwrite replaces your version, --accept keeps it",
        fix="use either --overwrite or --accept for the file",
    )
