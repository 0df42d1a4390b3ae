"""From the classic dialect's flat keys to the one shape, keeping names and places."""

from __future__ import annotations

from itertools import pairwise

from stockman.config.dialect import CLASSIC_KEYS, CLASSIC_ONLY, VISIBILITY
from stockman.config.language.estate import (
    CLUSTER_SECTIONS,
    MACHINE_SECTIONS,
    RESERVED_SECTIONS,
)
from stockman.config.source.tree import Entry, Mapping, Node, Scalar, Sequence
from stockman.model.pattern import pattern
from stockman.model.problem import Problems
from stockman.model.secret import is_encrypted

_OWNER_AND_NAME = pattern(r"[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?/[A-Za-z0-9._-]+")
_STEP = pattern(r"([^.\[\]]+)|\[(\d+)\]")


def unflattened(cluster: Mapping, problems: Problems) -> Mapping:
    """`cluster.yaml` in the one shape. Keys without a flat name stay where they are."""
    whole = Mapping(cluster.at)
    for name, entry in cluster.entries.items():
        if name in CLUSTER_SECTIONS:
            whole.entries[name] = Entry(entry.key, _copied(entry.value))
        elif name not in CLASSIC_KEYS and name not in CLASSIC_ONLY:
            _stray(name, entry, whole, problems)
    for name, entry in cluster.entries.items():
        if name in CLASSIC_KEYS:
            _place(whole, name, entry, problems)
    _fold_repository(whole, private=_is_private(cluster, problems))
    return whole


def checked_sections(tree: Mapping, allowed: tuple[str, ...], problems: Problems) -> Mapping:
    """A file's sections without those that belong elsewhere or are reserved."""
    whole = Mapping(tree.at)
    for name, entry in tree.entries.items():
        if name in allowed:
            whole.entries[name] = entry
        else:
            _stray(name, entry, whole, problems)
    return whole


def _stray(name: str, entry: Entry, whole: Mapping, problems: Problems) -> None:
    file = entry.key.at.file
    if name == "sops":
        return
    if name in RESERVED_SECTIONS:
        problems.error(
            "config.reserved-key",
            f"{name} is reserved for later",
            why="this version of stockman has no meaning for it",
            fix="remove it; a later version will know it",
            at=entry.key.at,
        )
    elif name in MACHINE_SECTIONS or name in CLUSTER_SECTIONS or name in CLASSIC_KEYS:
        home = "nodes.yaml" if name in MACHINE_SECTIONS else "cluster.yaml"
        problems.error(
            "config.wrong-file",
            f"{name} does not belong in {file}",
            why=f"it is a key of {home}",
            fix=f"move it to {home}",
            at=entry.key.at,
        )
    else:
        whole.entries[name] = entry


def _copied(node: Node) -> Node:
    if isinstance(node, Mapping):
        return Mapping(
            node.at,
            {
                key: Entry(entry.key, _copied(entry.value), name=entry.name, via=entry.via)
                for key, entry in node.entries.items()
            },
        )
    if isinstance(node, Sequence):
        return Sequence(node.at, [_copied(item) for item in node.items])
    return node


def _place(whole: Mapping, name: str, entry: Entry, problems: Problems) -> None:
    value = entry.value
    if isinstance(value, Scalar) and value.is_null:
        return
    if name == "cloudflare_enabled" and isinstance(value, Scalar):
        value = _provider(value)
    steps = [text or int(index) for text, index in _STEP.findall(CLASSIC_KEYS[name])]
    node: Node = whole
    for step, following in pairwise(steps):
        node = _descended(node, step, entry, sequence=isinstance(following, int))
    last = steps[-1]
    if isinstance(node, Mapping) and isinstance(last, str):
        if last in node.entries:
            _given_twice(name, entry, node.entries[last], problems)
        else:
            node.entries[last] = Entry(entry.key, value, name=name)
    elif isinstance(node, Sequence) and not node.items:
        node.items.append(value)


def _descended(node: Node, step: str | int, entry: Entry, *, sequence: bool) -> Node:
    if isinstance(node, Sequence):
        if not node.items:
            node.items.append(Mapping(entry.value.at))
        return node.items[0]
    if not isinstance(node, Mapping):
        return node
    known = node.entries.get(str(step))
    if known is None:
        fresh: Node = Sequence(entry.value.at) if sequence else Mapping(entry.value.at)
        known = Entry(entry.key, fresh)
        node.entries[str(step)] = known
    return known.value


def _given_twice(name: str, entry: Entry, other: Entry, problems: Problems) -> None:
    problems.error(
        "config.given-twice",
        f"{name} is given twice under two names",
        why=f"{CLASSIC_KEYS[name]} stands at {other.value.at} and means the same",
        fix="keep one of the two",
        at=entry.key.at,
    )


def _provider(value: Scalar) -> Scalar:
    provider = {"true": "cloudflare", "false": "none"}.get(value.text.lower(), value.text)
    return Scalar(provider, value.at, plain=value.plain, span=value.span)


def _is_private(cluster: Mapping, problems: Problems) -> bool:
    entry = cluster.entries.get(VISIBILITY)
    if entry is None:
        return False
    value = entry.value
    if isinstance(value, Scalar):
        if value.text in ("public", "private"):
            return value.text == "private"
        if value.is_null or is_encrypted(value.text):
            return False
    problems.error(
        "config.choice",
        f"{VISIBILITY} has a value that does not exist",
        why="it is neither public nor private",
        fix="write public or private",
        at=value.at,
    )
    return False


def _fold_repository(whole: Mapping, *, private: bool) -> None:
    section = whole.get("repository")
    if not isinstance(section, Mapping):
        return
    entry = section.entries.get("url")
    if entry is None or not isinstance(entry.value, Scalar):
        return
    name = entry.value
    address = repository_address(name.text, private=private)
    if address is not None:
        spelled = Scalar(address, name.at, plain=False, span=name.span)
        section.entries["url"] = Entry(entry.key, spelled, name=entry.name)


def repository_address(name: str, *, private: bool) -> str | None:
    """The Git address of `owner/repo`; None where the text is not of that form."""
    if _OWNER_AND_NAME.fullmatch(name) is None:
        return None
    base = "ssh://git@github.com" if private else "https://github.com"
    return f"{base}/{name}.git"
