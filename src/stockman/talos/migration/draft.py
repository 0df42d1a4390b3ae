"""A configuration on its way: what is taken from it and put into it is written down as edits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import deepcopy

from stockman.model.origin import Origin
from stockman.model.problem import Problems
from stockman.talos.migration.edit import Configuration, Edit, Key, Nature, Plain, found, place
from stockman.talos.patches.documents import V1ALPHA1, Document
from stockman.talos.patches.tree import Branch, Tree, plain

OLDEST: Key = (V1ALPHA1, "")


class Draft:
    """Documents as plain values, and the edits that made them so."""

    def __init__(
        self, documents: Iterable[Document], *, fragment: bool, adopt: bool, keep_oidc: bool
    ) -> None:
        self._trees = {key_of(document): document.tree for document in documents}
        self.configuration: Configuration = {
            key: _mapping(plain(tree)) for key, tree in self._trees.items()
        }
        self.fragment = fragment
        """Whether this is a part of a configuration, a patch: what is not there stays unsaid."""
        self.adopt = adopt
        """Whether new defaults are taken over."""
        self.keep_oidc = keep_oidc
        """Whether arguments that name an identity provider stay arguments."""
        self.since = ""
        """The contract of the current step."""
        self.edits: list[Edit] = []
        self.problems = Problems()

    @property
    def oldest(self) -> Plain:
        """The v1alpha1 document; empty where there is none."""
        return self.configuration.get(OLDEST, {})

    @property
    def is_controller(self) -> bool:
        """Whether the machine is known to be of the control plane; a patch may be for one."""
        kind = found(self.oldest, "machine.type")
        return kind in ("controlplane", "init") or (self.fragment and kind is None)

    @property
    def is_worker(self) -> bool:
        return found(self.oldest, "machine.type") in ("worker", "join")

    def has(self, path: str) -> bool:
        return found(self.oldest, path) is not None

    def get(self, path: str) -> object:
        """What the v1alpha1 document says; None: nothing."""
        return found(self.oldest, path)

    def section(self, path: str) -> Plain:
        """A mapping of the v1alpha1 document; empty where there is none."""
        return _mapping(found(self.oldest, path))

    def take(self, path: str, reason: str, nature: Nature = Nature.MOVED) -> object:
        """Remove a part of the v1alpha1 document, and give it; None: it was not there."""
        before = found(self.oldest, path)
        if before is not None:
            self._write(OLDEST, path, None, reason, nature)
        return before

    def replace(self, path: str, after: object, reason: str, nature: Nature = Nature.MOVED) -> None:
        """Put another value into the v1alpha1 document."""
        if found(self.oldest, path) != after:
            self._write(OLDEST, path, after, reason, nature)

    def put(
        self,
        kind: str,
        fields: Mapping[str, object],
        reason: str,
        *,
        name: str = "",
        nature: Nature = Nature.MOVED,
    ) -> None:
        """Add a document, or fields to the one that is there; its own fields win."""
        key = (kind, name)
        present = self.configuration.get(key)
        if present is None:
            named: Plain = {"name": name} if name else {}
            whole: Plain = {"apiVersion": V1ALPHA1, "kind": kind, **named, **fields}
            self._write(key, "", whole, reason, nature)
            return
        for field, value in fields.items():
            after = _joined(present.get(field), value)
            if present.get(field) != after:
                self._write(key, field, after, reason, nature)

    def kept(self, path: str, why: str, fix: str) -> None:
        """Warn that a part stays as it is, because the newer contract has no words for it."""
        self.problems.warn(
            "migration.kept",
            f"{path} stays in the v1alpha1 document",
            why=why,
            fix=fix,
            at=self.origin(OLDEST, path),
        )

    def changes(self, path: str, what: str, why: str, fix: str) -> None:
        """Warn that something will be different afterwards."""
        self.problems.warn(
            "migration.changed", what, why=why, fix=fix, at=self.origin(OLDEST, path)
        )

    def origin(self, key: Key, path: str) -> Origin | None:
        """Where a part was written; the nearest one above it that is known."""
        tree: Tree | None = self._trees.get(key)
        for step in path.split(".") if path else ():
            below = tree.get(step) if isinstance(tree, Branch) else None
            if below is None:
                break
            tree = below
        if tree is None or tree.origin.is_derived:
            return None
        return tree.origin

    def _write(self, key: Key, path: str, after: object, reason: str, nature: Nature) -> None:
        before = found(self.configuration[key], path) if path else None
        self.edits.append(
            Edit(
                kind=key[0],
                name=key[1],
                path=path,
                before=deepcopy(before),
                after=deepcopy(after),
                reason=reason,
                since=self.since,
                nature=nature,
                origin=None if before is None else self.origin(key, path),
            )
        )
        if path:
            place(self.configuration[key], path, deepcopy(after))
        else:
            self.configuration[key] = _mapping(deepcopy(after))


def key_of(document: Document) -> Key:
    return (document.kind.name, document.name)


def _mapping(value: object) -> Plain:
    return value if isinstance(value, dict) else {}


def _joined(before: object, added: object) -> object:
    if before is None:
        return added
    if isinstance(before, dict) and isinstance(added, dict):
        result = dict(before)
        for key, value in added.items():
            result[key] = _joined(result.get(key), value)
        return result
    if isinstance(before, list) and isinstance(added, list):
        return [*before, *(item for item in added if item not in before)]
    return before
