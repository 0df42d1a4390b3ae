"""Draft the files of a running cluster: keys, and patches by scope (all machines, a role, one
node)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from itertools import count

from stockman.assessment.adoption.hardware import Keys
from stockman.assessment.adoption.operations import Operation, patch_texts
from stockman.config.convert.draft import NO_COMMENTS, ConfigDraft, finish_conversion
from stockman.config.load import CLUSTER_YAML, NODES_YAML, load
from stockman.config.resolve import resolve
from stockman.config.rules import check_rules
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
from stockman.talos.machine.patch_sets import PatchSet
from stockman.talos.patches.documents import V1ALPHA1
from stockman.talos.patches.patch import Patch
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
