"""Draft the files of a running cluster: keys, and patches by scope (all machines, a role, one
node)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from itertools import count

from stockman.assessment.adoption.hardware import Keys
from stockman.config.convert.draft import NO_COMMENTS, ConfigDraft, finish_conversion
from stockman.config.load import CLUSTER_YAML, NODES_YAML, load
from stockman.config.resolve import resolve
from stockman.config.rules import check_rules
from stockman.config.rules.nodes import OWNED, OWNED_KINDS
from stockman.config.source.tree import MappingNode as Tree
from stockman.config.source.tree import build_node
from stockman.model.desired import Desired
from stockman.model.errors import StockmanError
from stockman.model.names import NodeName
from stockman.model.origin import Position
from stockman.model.problem import Problems
from stockman.model.record import record
from stockman.model.secret import Secret
from stockman.talos.machine.assembly import ConfigurationAssembler
from stockman.talos.machine.masking import SecretMask
from stockman.talos.machine.patch_sets import PatchSet
from stockman.talos.patches.apply import load_documents
from stockman.talos.patches.decode import V1ALPHA1, ConfigDocument
from stockman.talos.patches.patch import Patch
from stockman.talos.patches.schema import plain_value
from stockman.talos.secrets.bundle import SecretsBundle

ALL, CONTROLLER, WORKER = "all", "controller", "worker"
_OF_ONE_MACHINE = (("machine", "network"), ("machine", "install"), ("machine", "disks"))
_CLUSTER_WIDE = ("Kube", "Discovery", "Time", "Resolver", "Registry")
"""Prefixes of document kinds whose settings are the same on every machine."""


def group_by_level(
    by_node: Mapping[str, tuple[Operation, ...]], controllers: frozenset[str]
) -> dict[str, tuple[Operation, ...]]:
    """Group operations by scope: `all`, `controller`, `worker` or the name of a node."""
    workers = frozenset(by_node) - controllers
    left = {name: dict.fromkeys(every) for name, every in by_node.items()}
    levels: dict[str, tuple[Operation, ...]] = {}
    for level, members in ((ALL, frozenset(by_node)), (CONTROLLER, controllers), (WORKER, workers)):
        shared = _take_common(left, members)
        if shared:
            levels[level] = shared
            for name in members:
                left[name] = {
                    operation: None for operation in left[name] if operation not in shared
                }
    return levels | {name: tuple(every) for name, every in left.items() if every}


def separate_by_node(
    by_node: Mapping[str, tuple[Operation, ...]],
) -> dict[str, tuple[Operation, ...]]:
    """Group operations by node, without shared scopes."""
    return {name: every for name, every in by_node.items() if every}


def _take_common(
    left: Mapping[str, Iterable[Operation]], members: frozenset[str]
) -> tuple[Operation, ...]:
    lists = [left[name] for name in left if name in members]
    if not lists:
        return ()
    first, *remaining = lists
    common = [
        operation for operation in first if all(operation in operations for operations in remaining)
    ]
    return tuple(operation for operation in common if remaining or not _is_own(operation))


def _is_own(operation: Operation) -> bool:
    """Whether an operation is specific to one machine."""
    kind = operation.document[0]
    if kind == V1ALPHA1:
        return any(operation.path[: len(prefix)] == prefix for prefix in _OF_ONE_MACHINE)
    return not kind.startswith(_CLUSTER_WIDE)


FOLDER = "talos/adopted"
_SOURCE = "the cluster"
_ENDINGS = {"removed": ".removed.yaml", "set": ".yaml", "secret": ".sops.yaml"}


@record
class Draft:
    """Configuration files that are not written yet."""

    texts: dict[str, str]
    """Contents of cluster.yaml and nodes.yaml by name."""
    patches: dict[str, str] = field(default_factory=dict)
    """Contents of machine configuration patches by file name."""
    secrets: dict[str, Secret] = field(default_factory=dict)
    """Contents of patches that hold or may hold secrets, by file name."""
    levels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Names of patch files by scope: `all`, `controller`, `worker` or a node."""
    lost: tuple[str, ...] = ()
    """Keys whose values cannot be written to the files."""

    def load_desired(self, problems: Problems) -> Desired | None:
        """Return the desired state of the files. None: they have errors, added to the problems."""
        loaded = load({name: text.encode() for name, text in self.texts.items()})
        check_rules(loaded)
        problems.extend(loaded.problems)
        if loaded.problems.errors:
            return None
        try:
            return resolve(loaded)
        except StockmanError as error:
            problems.add(error.problem)
            return None

    def assembly(self, desired: Desired, bundle: SecretsBundle) -> ConfigurationAssembler:
        """Return what builds machine configurations from these files."""
        nodes = {
            NodeName(name): self._patches(name)
            for name in self.levels
            if name not in (ALL, CONTROLLER, WORKER)
        }
        patches = PatchSet(
            all=self._patches(ALL),
            controller=self._patches(CONTROLLER),
            worker=self._patches(WORKER),
            nodes=nodes,
        )
        return ConfigurationAssembler(desired, bundle, patches)

    def _patches(self, level: str) -> tuple[Patch, ...]:
        return tuple(
            Patch(label=name, file=name, text=self._text(name))
            for name in self.levels.get(level, ())
        )

    def _text(self, name: str) -> str:
        return self.patches[name] if name in self.patches else self.secrets[name].reveal()


def draft_files(keys: Keys, levels: Mapping[str, tuple[Operation, ...]], header: str = "") -> Draft:
    """Return files with the given keys, and patches for all remaining differences."""
    plain: dict[str, str] = {}
    secrets: dict[str, Secret] = {}
    files: dict[str, tuple[str, ...]] = {}
    for level, operations in levels.items():
        names = []
        for kind, text in patch_texts(operations).items():
            name = f"{FOLDER}/{level}{_ENDINGS[kind]}"
            names.append(name)
            if kind == "secret":
                secrets[name] = Secret(text)
            else:
                plain[name] = text
        files[level] = tuple(names)
    texts, lost = _texts(_keys_with_patches(keys, files))
    texts[CLUSTER_YAML] = f"{header}{texts[CLUSTER_YAML]}"
    return Draft(texts=texts, patches=plain, secrets=secrets, levels=files, lost=lost)


def _keys_with_patches(keys: Keys, files: Mapping[str, tuple[str, ...]]) -> Keys:
    """Return the keys with references to the patch files added."""
    if not files:
        return keys
    named = {level: [f"@{name}" for name in names] for level, names in files.items()}
    talos = dict(_mapping(keys.get("talos")))
    shared = {level: named[level] for level in (ALL, CONTROLLER, WORKER) if level in named}
    if shared:
        talos["patches"] = shared
    nodes = []
    listed = keys.get("nodes")
    for node in listed if isinstance(listed, list) else []:
        own = named.get(str(node.get("name")))
        nodes.append({**node, "talos": {"patches": own}} if own else node)
    return {**keys, "talos": talos, "nodes": nodes}


def _mapping(value: object) -> Keys:
    return value if isinstance(value, dict) else {}


def _texts(keys: Keys) -> tuple[dict[str, str], tuple[str, ...]]:
    building = ConfigDraft(_SOURCE)
    lines = count(1)
    tree = build_node(keys, "", lambda _: Position(_SOURCE, next(lines), 1))
    if isinstance(tree, Tree):
        building.tree = tree
    result = finish_conversion(building, NO_COMMENTS, to_toml=False)
    files = {name: result.files[name] for name in (CLUSTER_YAML, NODES_YAML)}
    return files, tuple(lost_value.key for lost_value in result.lost)


DocumentIdentity = tuple[str, str]
"""Kind and name of a document."""
Path = tuple[str, ...]

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
