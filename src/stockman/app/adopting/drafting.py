"""Files of a cluster in memory, and what they mean."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from itertools import count

from stockman.app.adopting.hardware import Keys
from stockman.app.adopting.levels import ALL, CONTROLLER, WORKER
from stockman.app.adopting.operations import Operation, patch_texts
from stockman.config.convert.building import Building
from stockman.config.convert.foreign import NO_COMMENTS, converted
from stockman.config.load import CLUSTER_YAML, NODES_YAML, load
from stockman.config.resolve import resolve
from stockman.config.rules import check
from stockman.config.source.tree import Mapping as Tree
from stockman.config.source.tree import node_of
from stockman.model.desired import Desired
from stockman.model.errors import StockmanError
from stockman.model.names import NodeName
from stockman.model.origin import Position
from stockman.model.problem import Problems
from stockman.model.record import record
from stockman.model.secret import Secret
from stockman.talos.bundle import SecretsBundle
from stockman.talos.machine.assembly import Assembly
from stockman.talos.machine.assembly_patches import PatchSet
from stockman.talos.patches.patch import Patch

FOLDER = "talos/adopted"
_SOURCE = "the cluster"
_ENDINGS = {"removed": ".removed.yaml", "set": ".yaml", "secret": ".sops.yaml"}


@record
class Draft:
    """Files that are not written yet."""

    texts: dict[str, str]
    """cluster.yaml and nodes.yaml."""
    patches: dict[str, str] = field(default_factory=dict)
    """Patches of machine configurations, by file."""
    secrets: dict[str, Secret] = field(default_factory=dict)
    """The same of those that hold secrets, or may."""
    levels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Files of patches by whom they are for: `all`, `controller`, `worker` or a node."""
    lost: tuple[str, ...] = ()
    """Keys whose values do not fit into files."""

    def desired(self, problems: Problems) -> Desired | None:
        """What the files mean. None: the problems say what is wrong with them."""
        loaded = load({name: text.encode() for name, text in self.texts.items()})
        check(loaded)
        problems.extend(loaded.problems)
        if loaded.problems.errors:
            return None
        try:
            return resolve(loaded)
        except StockmanError as error:
            problems.add(error.problem)
            return None

    def assembly(self, desired: Desired, bundle: SecretsBundle) -> Assembly:
        """What makes machine configurations of the files."""
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
        return Assembly(desired, bundle, patches)

    def _patches(self, level: str) -> tuple[Patch, ...]:
        return tuple(
            Patch(label=name, file=name, text=self._text(name))
            for name in self.levels.get(level, ())
        )

    def _text(self, name: str) -> str:
        return self.patches[name] if name in self.patches else self.secrets[name].reveal()


def draft(keys: Keys, levels: Mapping[str, tuple[Operation, ...]], header: str = "") -> Draft:
    """Files that say these keys, with patches for the rest."""
    plain: dict[str, str] = {}
    secrets: dict[str, Secret] = {}
    files: dict[str, tuple[str, ...]] = {}
    for level, found in levels.items():
        names = []
        for part, text in patch_texts(found).items():
            name = f"{FOLDER}/{level}{_ENDINGS[part]}"
            names.append(name)
            if part == "secret":
                secrets[name] = Secret(text)
            else:
                plain[name] = text
        files[level] = tuple(names)
    texts, lost = _texts(_with_patches(keys, files))
    texts[CLUSTER_YAML] = f"{header}{texts[CLUSTER_YAML]}"
    return Draft(texts=texts, patches=plain, secrets=secrets, levels=files, lost=lost)


def _with_patches(keys: Keys, files: Mapping[str, tuple[str, ...]]) -> Keys:
    """The same keys, naming the files of patches."""
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
    building = Building(_SOURCE)
    lines = count(1)
    tree = node_of(keys, "", lambda _: Position(_SOURCE, next(lines), 1))
    if isinstance(tree, Tree):
        building.whole = tree
    result = converted(building, NO_COMMENTS, to_toml=False)
    found = {name: result.files[name] for name in (CLUSTER_YAML, NODES_YAML)}
    return found, tuple(one.key for one in result.lost)
