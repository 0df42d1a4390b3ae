"""The patches of every node, from least to most specific."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import field

from stockman.config.rules.nodes import FILE_MARK, owned_key_problems
from stockman.config.source.tree import ScalarNode, TreeNode
from stockman.model.desired import Cluster, Desired, Node
from stockman.model.errors import StockmanError
from stockman.model.names import NodeName
from stockman.model.origin import Origin, Position
from stockman.model.problem import Problem, Problems
from stockman.model.record import record
from stockman.talos.patches.patch import Patch

PatchScopeName = str
"""`all`, `controller`, `worker`, or `node NAME`."""
ResolvePatchFile = Callable[[str, Origin], Patch | None]
"""Returns the patch of a referenced file. None: the problem is already reported."""
TextPosition = Callable[[ScalarNode], tuple[int, int] | None]
"""Returns line and column of the first character of a text; None: its lines differ."""


@record
class PatchSet:
    """All patches of a cluster by target, in the order of application."""

    all: tuple[Patch, ...] = ()
    controller: tuple[Patch, ...] = ()
    worker: tuple[Patch, ...] = ()
    classes: Mapping[NodeName, tuple[Patch, ...]] = field(default_factory=dict)
    """Patches from classes, by node."""
    nodes: Mapping[NodeName, tuple[Patch, ...]] = field(default_factory=dict)

    @property
    def is_empty(self) -> bool:
        return not (self.all or self.controller or self.worker or self.classes or self.nodes)

    def of(self, node: Node, cluster: Cluster) -> tuple[Patch, ...]:
        """Return the patches of one node; later ones override."""
        specific = (
            *(self.controller if node.is_controller else self.worker),
            *self.classes.get(node.name, ()),
            *self.nodes.get(node.name, ()),
        )
        if cluster.talos.patch_order == "talhelper":
            return (*specific, *self.all)
        return (*self.all, *specific)

    def each(self) -> Iterable[Patch]:
        """Return every patch once."""
        groups = [self.all, self.controller, self.worker]
        groups += [*self.classes.values(), *self.nodes.values()]
        return dict.fromkeys(patch for group in groups for patch in group)


@record
class PatchLocations:
    """Where patches are written in the configuration files."""

    nodes: Mapping[Position, TreeNode]
    """Parsed patches by position."""
    referenced: ResolvePatchFile
    text_place: TextPosition


def build_patch_set(
    desired: Desired, locations: PatchLocations, files: Mapping[PatchScopeName, tuple[Patch, ...]]
) -> PatchSet:
    """Return the patches of all nodes: in each scope those of files first, then those of keys."""
    if desired.cluster is None:
        return PatchSet()
    keys = _KeyPatches(locations)
    shared = desired.cluster.talos.patches
    scopes = {
        scope: (*files.get(scope, ()), *keys.patches(getattr(shared, scope), shared.origins, scope))
        for scope in ("all", "controller", "worker")
    }
    classes: dict[NodeName, tuple[Patch, ...]] = {}
    nodes: dict[NodeName, tuple[Patch, ...]] = {}
    for node in desired.nodes:
        own_patches = {f"patches[{index}]": patch for index, patch in enumerate(node.patches)}
        inherited = {key for key in own_patches if _is_inherited(node, key)}
        from_class = keys.select(own_patches, inherited, node.origins)
        own = keys.select(own_patches, own_patches.keys() - inherited, node.origins)
        own = (*files.get(f"node {node.name}", ()), *own)
        if from_class:
            classes[node.name] = from_class
        if own:
            nodes[node.name] = own
    return PatchSet(**scopes, classes=classes, nodes=nodes)


def _is_inherited(node: Node, key: str) -> bool:
    origin = node.origins.get(key)
    return origin is not None and origin.via.startswith("class ")


class _KeyPatches:
    """Creates patches from values of keys; a shared one is created once."""

    def __init__(self, locations: PatchLocations) -> None:
        self._locations = locations
        self._known: dict[Position, Patch | None] = {}

    def patches(
        self, values: tuple[object, ...], origins: Mapping[str, Origin], name: str
    ) -> tuple[Patch, ...]:
        by_key = {f"{name}[{index}]": value for index, value in enumerate(values)}
        return self.select(by_key, by_key.keys(), origins)

    def select(
        self,
        by_key: Mapping[str, object],
        chosen: Iterable[str],
        origins: Mapping[str, Origin],
    ) -> tuple[Patch, ...]:
        selected = set(chosen)
        patches = [
            self._patch(value, origins[key]) for key, value in by_key.items() if key in selected
        ]
        return tuple(patch for patch in patches if patch is not None)

    def _patch(self, value: object, origin: Origin) -> Patch | None:
        if origin.at not in self._known:
            self._known[origin.at] = self._build_patch(value, origin)
        return self._known[origin.at]

    def _build_patch(self, value: object, origin: Origin) -> Patch | None:
        file = origin.at.file
        node = self._locations.nodes.get(origin.at)
        if not isinstance(value, str):
            return Patch(label=origin.name, file=file, text="", node=node)
        if value.startswith(FILE_MARK):
            return self._locations.referenced(value.removeprefix(FILE_MARK), origin)
        place = self._locations.text_place(node) if isinstance(node, ScalarNode) else None
        if place is None:
            return Patch(label=origin.name, file=file, text=value, place=origin.at)
        line, column = place
        return Patch(label=origin.name, file=file, text=value, first_line=line, first_column=column)


def check_reserved_paths(patches: PatchSet, problems: Problems) -> None:
    """Report patches of settings that stockman manages, and patches that are not YAML."""
    for patch in patches.each():
        if patch.node is not None:
            continue  # already checked by the configuration rules
        try:
            nodes = _read_documents(patch)
        except StockmanError as error:
            problems.add(error.problem)
            continue
        for node in nodes:
            problems.extend(
                _with_position(problem, patch) for problem in owned_key_problems(node, patch.label)
            )


def _with_position(problem: Problem, patch: Patch) -> Problem:
    if patch.place is None:
        return problem
    return Problem(
        code=problem.code,
        what=problem.what,
        where=patch.place,
        why=problem.why,
        fix=problem.fix,
    )


def _read_documents(patch: Patch) -> tuple[TreeNode, ...]:
    from stockman.talos.patches.apply import read_patch

    return read_patch(patch)
