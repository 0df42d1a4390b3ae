"""Whose a file is: what rendering may write, must leave alone, or has to ask for."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping
from enum import Enum

from stockman.model.record import record


@record
class Owned:
    """A file that rendering wrote, as it wrote it."""

    digest: str
    """SHA-256 of its bytes as rendered."""
    component: str
    accepted: str = ""
    """SHA-256 of the user's own version, where that was accepted in its place."""


class Act(Enum):
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
        return self in (Act.CREATE, Act.UPDATE, Act.REMOVE)

    @property
    def needs_a_decision(self) -> bool:
        return self in (Act.EDITED, Act.FOREIGN)


@record
class Action:
    """One file, what becomes of it, and its bytes before and after."""

    path: str
    act: Act
    component: str
    before: bytes | None
    """None: there is no such file."""
    after: bytes | None
    """None: it is not rendered."""


@record
class Wishes:
    """What the user decided about single files."""

    overwrite: frozenset[str] = frozenset()
    accept: frozenset[str] = frozenset()
    prune: bool = False


@record
class Wanted:
    """A file as it should be on disk."""

    path: str
    component: str
    content: bytes


def actions(
    wanted: Iterable[Wanted],
    disk: Mapping[str, bytes],
    owned: Mapping[str, Owned],
    wishes: Wishes,
) -> tuple[Action, ...]:
    """What becomes of every file, by path."""
    files = {one.path: one for one in wanted}
    found = [
        _rendered(one, disk.get(one.path), owned.get(one.path), wishes) for one in files.values()
    ]
    found += [
        _stale(path, disk[path], own, wishes)
        for path, own in owned.items()
        if path not in files and path in disk
    ]
    return tuple(sorted(found, key=lambda action: action.path))


def _rendered(one: Wanted, before: bytes | None, own: Owned | None, wishes: Wishes) -> Action:
    return Action(
        path=one.path,
        act=_act(one, before, own, wishes),
        component=one.component,
        before=before,
        after=one.content,
    )


def _act(one: Wanted, before: bytes | None, own: Owned | None, wishes: Wishes) -> Act:
    if before is None:
        return Act.CREATE
    if before == one.content:
        return Act.KEEP
    if one.path in wishes.overwrite:
        return Act.UPDATE
    if own is None:
        return Act.ACCEPT if one.path in wishes.accept else Act.FOREIGN
    there = digest(before)
    if there == own.digest:
        return Act.UPDATE
    if there == own.accepted and digest(one.content) == own.digest:
        return Act.ACCEPTED
    return Act.ACCEPT if one.path in wishes.accept else Act.EDITED


def _stale(path: str, before: bytes, own: Owned, wishes: Wishes) -> Action:
    edited = digest(before) != own.digest
    act = Act.STALE
    if path in wishes.accept:
        act = Act.ACCEPT
    elif wishes.prune:
        act = Act.EDITED if edited and path not in wishes.overwrite else Act.REMOVE
    return Action(path=path, act=act, component=own.component, before=before, after=None)


def owned_after(
    done: Iterable[Action], owned: Mapping[str, Owned], failed: Collection[str] = ()
) -> dict[str, Owned]:
    """What the lock says once the actions were carried out, apart from those that failed."""
    result = dict(owned)
    for action in done:
        if action.path in failed:
            continue
        if action.act is Act.REMOVE or (action.act is Act.ACCEPT and action.after is None):
            result.pop(action.path, None)
        elif action.after is not None and action.act in _RECORDED:
            accepted = action.act is Act.ACCEPT and action.before is not None
            result[action.path] = Owned(
                digest=digest(action.after),
                component=action.component,
                accepted=digest(action.before or b"") if accepted else "",
            )
    return dict(sorted(result.items()))


_RECORDED = (Act.CREATE, Act.UPDATE, Act.KEEP, Act.ACCEPT)


def digest(content: bytes) -> str:
    """The hash that the lock keeps of a file."""
    return hashlib.sha256(content).hexdigest()
