"""One edit of a migration, and what a list of them makes of a configuration."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Mapping
from copy import deepcopy
from dataclasses import field, replace
from enum import Enum

from stockman.model.origin import Origin
from stockman.model.problem import Problems
from stockman.model.record import record
from stockman.model.secret import MASK
from stockman.talos.patches.documents import V1ALPHA1, ConfigDocument
from stockman.talos.patches.tree import Branch, Tree, plain_value

Plain = dict[str, object]
"""A document or a part of one: mappings, lists and values."""
Key = tuple[str, str]
"""Kind and name of a document; the name is empty where the kind has none."""
Configuration = dict[Key, Plain]


class EditNature(Enum):
    """Whether an edit changes what the machine does."""

    MOVED = "moved"
    """Says the same in the words of the newer contract."""
    REMOVED = "removed"
    """Takes away what has no effect there."""
    DEFAULT = "default"
    """Takes over a default of the newer contract: the machine changes."""


@record
class ConfigEdit:
    """One change of one place. Applied in their order, edits make the new configuration."""

    kind: str
    name: str
    """Empty: the kind has no names."""
    path: str
    """Keys from the top of the document, `machine.network.hostname`. Empty: the whole document."""
    before: object
    """None: nothing stood there."""
    after: object
    """None: nothing stands there any more."""
    reason: str
    since: str
    """The contract that asks for it, `1.12`."""
    nature: EditNature = EditNature.MOVED
    origin: Origin | None = field(default=None, compare=False, metadata={"shown": False})
    """Where `before` was written. None: nowhere, or it was made by an earlier edit."""

    @property
    def document(self) -> str:
        return f"{self.kind} {self.name}".rstrip()


def apply_edits(configuration: Configuration, edits: Iterable[ConfigEdit]) -> Configuration:
    """The configuration after the edits; what is given stays as it is."""
    result = deepcopy(configuration)
    for edit in edits:
        key = (edit.kind, edit.name)
        after = deepcopy(edit.after)
        if edit.path:
            set_value(result.setdefault(key, {}), edit.path, after)
        elif isinstance(after, dict):
            result[key] = after
        else:
            result.pop(key, None)
    return result


def value_at(document: Plain, path: str) -> object:
    """What stands at a path; None: nothing."""
    value: object = document
    for step in path.split("."):
        if not isinstance(value, dict):
            return None
        value = value.get(step)
    return value


def set_value(document: Plain, path: str, value: object) -> None:
    """Put a value at a path; None takes it away, and sections that are empty then."""
    *above, last = path.split(".")
    way = [document]
    for step in above:
        below = way[-1].setdefault(step, {})
        if not isinstance(below, dict):
            raise TypeError(f"{path} leads through a value")
        way.append(below)
    if value is not None:
        way[-1][last] = value
        return
    way[-1].pop(last, None)
    for holder, step in reversed(list(zip(way[1:], above[1:], strict=False))):
        if step in holder and holder[step] == {}:
            del holder[step]


def as_mapping(value: object) -> Plain:
    """The mapping; empty where there is none."""
    return value if isinstance(value, dict) else {}


def as_mappings(value: object) -> list[Plain]:
    """The mappings of a list."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def as_texts(value: object) -> list[str]:
    """The texts of a list."""
    return [str(item) for item in value] if isinstance(value, list) else []


def as_text(value: object) -> str:
    """The text; empty where there is none."""
    return value if isinstance(value, str) else ""


def select_fields(source: Plain, *names: str, **renamed: str) -> Plain:
    """The fields that are there: `names` as they are called, `renamed` as new name = old name."""
    wanted = {**{name: name for name in names}, **renamed}
    return {new: source[old] for new, old in wanted.items() if old in source}


def decode_base64(value: object) -> str:
    """The PEM text of what the v1alpha1 document holds in base64; empty where there is none."""
    packed = as_text(value)
    try:
        return base64.b64decode(packed, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return packed


V1ALPHA1_KEY: Key = (V1ALPHA1, "")


class ConfigDraft:
    """Documents as plain values, and the edits that made them so."""

    def __init__(
        self, documents: Iterable[ConfigDocument], *, fragment: bool, adopt: bool, keep_oidc: bool
    ) -> None:
        self._trees = {document_key(document): document.tree for document in documents}
        self.configuration: Configuration = {
            key: _mapping(plain_value(tree)) for key, tree in self._trees.items()
        }
        self.fragment = fragment
        """Whether this is a part of a configuration, a patch: what is not there stays unsaid."""
        self.adopt = adopt
        """Whether new defaults are taken over."""
        self.keep_oidc = keep_oidc
        """Whether arguments that name an identity provider stay arguments."""
        self.since = ""
        """The contract of the current step."""
        self.edits: list[ConfigEdit] = []
        self.problems = Problems()

    @property
    def oldest(self) -> Plain:
        """The v1alpha1 document; empty where there is none."""
        return self.configuration.get(V1ALPHA1_KEY, {})

    @property
    def is_controller(self) -> bool:
        """Whether the machine is known to be of the control plane; a patch may be for one."""
        kind = value_at(self.oldest, "machine.type")
        return kind in ("controlplane", "init") or (self.fragment and kind is None)

    @property
    def is_worker(self) -> bool:
        return value_at(self.oldest, "machine.type") in ("worker", "join")

    def has(self, path: str) -> bool:
        return value_at(self.oldest, path) is not None

    def get(self, path: str) -> object:
        """What the v1alpha1 document says; None: nothing."""
        return value_at(self.oldest, path)

    def section(self, path: str) -> Plain:
        """A mapping of the v1alpha1 document; empty where there is none."""
        return _mapping(value_at(self.oldest, path))

    def take(self, path: str, reason: str, nature: EditNature = EditNature.MOVED) -> object:
        """Remove a part of the v1alpha1 document, and give it; None: it was not there."""
        before = value_at(self.oldest, path)
        if before is not None:
            self._write(V1ALPHA1_KEY, path, None, reason, nature)
        return before

    def replace(
        self, path: str, after: object, reason: str, nature: EditNature = EditNature.MOVED
    ) -> None:
        """Put another value into the v1alpha1 document."""
        if value_at(self.oldest, path) != after:
            self._write(V1ALPHA1_KEY, path, after, reason, nature)

    def put(
        self,
        kind: str,
        fields: Mapping[str, object],
        reason: str,
        *,
        name: str = "",
        nature: EditNature = EditNature.MOVED,
    ) -> None:
        """Add a document, or fields to the one that is there; its own fields win."""
        key = (kind, name)
        present = self.configuration.get(key)
        if present is None:
            named: Plain = {"name": name} if name else {}
            whole: Plain = {"apiVersion": V1ALPHA1, "kind": kind, **named, **fields}
            self._write(key, "", whole, reason, nature)
            return
        for name, value in fields.items():
            after = _join_values(present.get(name), value)
            if present.get(name) != after:
                self._write(key, name, after, reason, nature)

    def kept(self, path: str, why: str, fix: str) -> None:
        """Warn that a part stays as it is, because the newer contract has no words for it."""
        self.problems.warn(
            "migration.kept",
            f"{path} stays in the v1alpha1 document",
            why=why,
            fix=fix,
            at=self.origin(V1ALPHA1_KEY, path),
        )

    def changes(self, path: str, what: str, why: str, fix: str) -> None:
        """Warn that something will be different afterwards."""
        self.problems.warn(
            "migration.changed", what, why=why, fix=fix, at=self.origin(V1ALPHA1_KEY, path)
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

    def _write(self, key: Key, path: str, after: object, reason: str, nature: EditNature) -> None:
        before = value_at(self.configuration[key], path) if path else None
        self.edits.append(
            ConfigEdit(
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
            set_value(self.configuration[key], path, deepcopy(after))
        else:
            self.configuration[key] = _mapping(deepcopy(after))


def document_key(document: ConfigDocument) -> Key:
    return (document.kind.name, document.name)


def _mapping(value: object) -> Plain:
    return value if isinstance(value, dict) else {}


def _join_values(before: object, added: object) -> object:
    if before is None:
        return added
    if isinstance(before, dict) and isinstance(added, dict):
        result = dict(before)
        for key, value in added.items():
            result[key] = _join_values(result.get(key), value)
        return result
    if isinstance(before, list) and isinstance(added, list):
        return [*before, *(item for item in added if item not in before)]
    return before


_CONFIDENTIAL = frozenset(
    {
        "aescbcEncryptionSecret",
        "apiToken",
        "apiUrl",
        "auth",
        "clusterSecret",
        "content",
        "contents",
        "identityToken",
        "key",
        "manifest",
        "passphrase",
        "password",
        "presharedKey",
        "privateKey",
        "secret",
        "secretboxEncryptionSecret",
        "token",
        "uniqueToken",
    }
)
"""Fields whose text is a secret, or may hold one."""
_ALL_BELOW = frozenset({"env", "environment", "extraManifestHeaders", "headers", "variables"})
"""Fields of which every value may be a secret."""


def mask_edit(edit: ConfigEdit) -> ConfigEdit:
    """The edit as it may be shown."""
    last = edit.path.rpartition(".")[2]
    return replace(edit, before=_mask(edit.before, last), after=_mask(edit.after, last))


def mask_value(value: object) -> object:
    """A document or a part of one as it may be shown."""
    return _mask(value, "")


def _mask(value: object, key: str, *, hidden: bool = False) -> object:
    hidden = hidden or key in _ALL_BELOW
    if isinstance(value, dict):
        return {name: _mask(item, name, hidden=hidden) for name, item in value.items()}
    if isinstance(value, list):
        return [_mask(item, key, hidden=hidden) for item in value]
    if value in (None, "") or isinstance(value, bool):
        return value
    return MASK if hidden or key in _CONFIDENTIAL else value
