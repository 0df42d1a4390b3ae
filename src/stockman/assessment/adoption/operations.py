"""Operations that turn one machine configuration into another, value by value."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from stockman.config.rules.nodes import OWNED, OWNED_KINDS
from stockman.model.record import record
from stockman.model.secret import Secret
from stockman.talos.machine.masking import SecretMask
from stockman.talos.patches.apply import load_documents
from stockman.talos.patches.documents import V1ALPHA1, ConfigDocument
from stockman.talos.patches.tree import plain_value

DocumentIdentity = tuple[str, str]
"""Kind and name of a document."""
Path = tuple[str, ...]

_HEAD = ("apiVersion", "kind", "name")
_MAY_HOLD_SECRETS = (
    ("machine", "files"),
    ("machine", "env"),
    ("machine", "pods"),
    ("machine", "registries", "config"),
    ("cluster", "inlineManifests"),
    ("cluster", "extraManifestHeaders"),
)
"""Free-text settings, which may contain secrets."""
_KINDS_WITH_SECRETS = frozenset(
    {
        *("EnvironmentConfig", "ExtensionServiceConfig", "KubeInlineManifestConfig"),
        *("RegistryAuthConfig", "RegistryTLSConfig", "WireguardConfig", "KubeStaticPodConfig"),
    }
)


@record
class Operation:
    """One value to remove, add or replace."""

    document: DocumentIdentity
    path: Path
    """Empty: the whole document."""
    value: str | None
    """The value as JSON. None: the value is removed."""
    removes: bool = False
    """Whether the old value is deleted first: patches append to lists and ignore empty values."""
    is_secret: bool = False

    @property
    def is_set(self) -> bool:
        """Whether a value is set in the end; a deleted list is already empty."""
        return self.value is not None and not (self.removes and self.value in ("[]", "{}"))

    @property
    def content(self) -> object:
        return json.loads(self.value) if self.value is not None else None


def find_operations(before: Secret, after: Secret, minor: str) -> tuple[Operation, ...]:
    """Return the operations that turn one text into another, except on protected values."""
    ours = _trees(load_documents("ours", before.reveal(), minor))
    documents = load_documents("theirs", after.reveal(), minor)
    theirs = _trees(documents)
    masked = _trees(documents, SecretMask(()))
    operations: list[Operation] = []
    for identity in [*ours, *(added for added in theirs if added not in ours)]:
        if identity[0] not in OWNED_KINDS:
            operations += _document_operations(identity, ours, theirs, masked)
    return tuple(operations)


def _trees(
    documents: Iterable[ConfigDocument], masking: SecretMask | None = None
) -> dict[DocumentIdentity, object]:
    return {
        (document.kind.name, document.name): plain_value(
            masking.mask(document.canonical()) if masking else document.canonical()
        )
        for document in documents
    }


def _document_operations(
    identity: DocumentIdentity,
    ours: dict[DocumentIdentity, object],
    theirs: dict[DocumentIdentity, object],
    masked: dict[DocumentIdentity, object],
) -> Iterator[Operation]:
    before, after = ours.get(identity), theirs.get(identity)
    if after is None:
        yield Operation(document=identity, path=(), value=None, removes=True)
        return
    shown = masked[identity]
    if before is None:
        yield Operation(
            document=identity,
            path=(),
            value=_json(after),
            is_secret=identity[0] in _KINDS_WITH_SECRETS or shown != after,
        )
        return
    yield from _compare_values(identity, (), (before, after, shown))


def _compare_values(
    identity: DocumentIdentity, path: Path, trees: tuple[object, object, object]
) -> Iterator[Operation]:
    before, after, shown = trees
    if isinstance(before, dict) and isinstance(after, dict) and isinstance(shown, dict):
        for key in [*before, *(added for added in after if added not in before)]:
            inner = (*path, key)
            if identity[0] == V1ALPHA1 and inner in OWNED:
                continue
            yield from _key_operations(identity, inner, (before, after, shown))
    elif before != after:
        is_secret = _is_secret(identity, path) or after != shown
        must_go = isinstance(before, list) or not after
        yield Operation(
            document=identity,
            path=path,
            value=_json(after),
            removes=must_go,
            is_secret=is_secret,
        )


def _key_operations(
    identity: DocumentIdentity,
    path: Path,
    mappings: tuple[dict[str, object], dict[str, object], dict[str, object]],
) -> Iterator[Operation]:
    key = path[-1]
    before, after, shown = (tree.get(key) for tree in mappings)
    has_before, has_after = key in mappings[0], key in mappings[1]
    if has_before and has_after:
        yield from _compare_values(identity, path, (before, after, shown))
    elif _is_protected(identity, path):
        trees = (before or {}, after or {}, shown or {})
        yield from _compare_values(identity, path, trees)
    elif has_after:
        is_secret = _is_secret(identity, path) or after != shown
        yield Operation(document=identity, path=path, value=_json(after), is_secret=is_secret)
    else:
        yield Operation(document=identity, path=path, value=None, removes=True)


def _is_protected(identity: DocumentIdentity, path: Path) -> bool:
    return identity[0] == V1ALPHA1 and any(owned[: len(path)] == path for owned in OWNED)


def _is_secret(identity: DocumentIdentity, path: Path) -> bool:
    if identity[0] in _KINDS_WITH_SECRETS:
        return True
    return identity[0] == V1ALPHA1 and any(
        path[: len(prefix)] == prefix or prefix[: len(path)] == path for prefix in _MAY_HOLD_SECRETS
    )


def _json(value: object) -> str:
    return json.dumps(value, default=str)


def patch_texts(operations: Iterable[Operation]) -> dict[str, str]:
    """Return the patches in their order, by kind: `removed`, `set` and `secret`."""
    every = tuple(operations)
    by_kind = {
        "removed": [operation for operation in every if operation.removes],
        "set": [operation for operation in every if operation.is_set and not operation.is_secret],
        "secret": [operation for operation in every if operation.is_set and operation.is_secret],
    }
    return {
        name: _text(operations_of_kind, removing=name == "removed")
        for name, operations_of_kind in by_kind.items()
        if operations_of_kind
    }


def _text(operations: Iterable[Operation], *, removing: bool) -> str:
    from stockman.config.writers.yaml_writer import render_yaml

    documents: dict[DocumentIdentity, dict[str, object]] = {}
    for operation in operations:
        document = documents.setdefault(operation.document, _head(operation.document))
        content = {"$patch": "delete"} if removing else operation.content
        if not operation.path:
            if isinstance(content, dict):
                document.update(content)
            continue
        target = document
        for step in operation.path[:-1]:
            inner = target.setdefault(step, {})
            target = inner if isinstance(inner, dict) else {}
        target[operation.path[-1]] = content
    return "---\n".join(render_yaml(document) for document in documents.values())


def _head(identity: DocumentIdentity) -> dict[str, object]:
    kind, name = identity
    if kind == V1ALPHA1:
        return {}
    head: dict[str, object] = {"apiVersion": V1ALPHA1, "kind": kind}
    return head | ({"name": name} if name else {})
