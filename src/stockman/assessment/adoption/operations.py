"""What turns one machine configuration into another, value by value."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from stockman.config.rules.patches import OWNED, OWNED_KINDS
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
"""Free texts of users: nobody can tell what stands in them."""
_KINDS_WITH_SECRETS = frozenset(
    {
        *("EnvironmentConfig", "ExtensionServiceConfig", "KubeInlineManifestConfig"),
        *("RegistryAuthConfig", "RegistryTLSConfig", "WireguardConfig", "KubeStaticPodConfig"),
    }
)


@record
class Operation:
    """One value that has to go, to come, or to be another one."""

    document: DocumentIdentity
    path: Path
    """Empty: the whole document."""
    value: str | None
    """As JSON. None: nothing has to be there."""
    removes: bool = False
    """Whether what is there goes first: patches add to lists, and pass over empty values."""
    is_secret: bool = False

    @property
    def is_set(self) -> bool:
        """Whether something comes in the end: what went is an empty list already."""
        return self.value is not None and not (self.removes and self.value in ("[]", "{}"))

    @property
    def content(self) -> object:
        return json.loads(self.value) if self.value is not None else None


def find_operations(before: Secret, after: Secret, minor: str) -> tuple[Operation, ...]:
    """All that turns one text into another; what patches may not touch is left out."""
    ours = _trees(load_documents("ours", before.reveal(), minor))
    documents = load_documents("theirs", after.reveal(), minor)
    theirs = _trees(documents)
    masked = _trees(documents, SecretMask(()))
    found: list[Operation] = []
    for identity in [*ours, *(one for one in theirs if one not in ours)]:
        if identity[0] not in OWNED_KINDS:
            found += _document_operations(identity, ours, theirs, masked)
    return tuple(found)


def _trees(
    documents: Iterable[ConfigDocument], masking: SecretMask | None = None
) -> dict[DocumentIdentity, object]:
    return {
        (one.kind.name, one.name): plain_value(
            masking.masked(one.printed()) if masking else one.printed()
        )
        for one in documents
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
        for key in [*before, *(one for one in after if one not in before)]:
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
    around: tuple[dict[str, object], dict[str, object], dict[str, object]],
) -> Iterator[Operation]:
    key = path[-1]
    before, after, shown = (one.get(key) for one in around)
    has_before, has_after = key in around[0], key in around[1]
    if has_before and has_after:
        yield from _compare_values(identity, path, (before, after, shown))
    elif _holds_owned(identity, path):
        trees = (before or {}, after or {}, shown or {})
        yield from _compare_values(identity, path, trees)
    elif has_after:
        is_secret = _is_secret(identity, path) or after != shown
        yield Operation(document=identity, path=path, value=_json(after), is_secret=is_secret)
    else:
        yield Operation(document=identity, path=path, value=None, removes=True)


def _holds_owned(identity: DocumentIdentity, path: Path) -> bool:
    return identity[0] == V1ALPHA1 and any(one[: len(path)] == path for one in OWNED)


def _is_secret(identity: DocumentIdentity, path: Path) -> bool:
    if identity[0] in _KINDS_WITH_SECRETS:
        return True
    return identity[0] == V1ALPHA1 and any(
        path[: len(one)] == one or one[: len(path)] == path for one in _MAY_HOLD_SECRETS
    )


def _json(value: object) -> str:
    return json.dumps(value, default=str)


def patch_texts(found: Iterable[Operation]) -> dict[str, str]:
    """Patches that do it, in their order, by what they are: `removed`, `set` and `secret`."""
    every = tuple(found)
    parts = {
        "removed": [one for one in every if one.removes],
        "set": [one for one in every if one.is_set and not one.is_secret],
        "secret": [one for one in every if one.is_set and one.is_secret],
    }
    return {name: _text(part, removing=name == "removed") for name, part in parts.items() if part}


def _text(found: Iterable[Operation], *, removing: bool) -> str:
    from stockman.config.writers.yaml_writer import render_yaml

    documents: dict[DocumentIdentity, dict[str, object]] = {}
    for one in found:
        document = documents.setdefault(one.document, _head(one.document))
        content = {"$patch": "delete"} if removing else one.content
        if not one.path:
            if isinstance(content, dict):
                document.update(content)
            continue
        place = document
        for step in one.path[:-1]:
            inner = place.setdefault(step, {})
            place = inner if isinstance(inner, dict) else {}
        place[one.path[-1]] = content
    return "---\n".join(render_yaml(one) for one in documents.values())


def _head(identity: DocumentIdentity) -> dict[str, object]:
    kind, name = identity
    if kind == V1ALPHA1:
        return {}
    head: dict[str, object] = {"apiVersion": V1ALPHA1, "kind": kind}
    return head | ({"name": name} if name else {})
