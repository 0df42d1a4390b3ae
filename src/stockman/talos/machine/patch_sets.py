"""The patches of every node, from the least to the most specific."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import field

from stockman.config.rules.patches import FILE_MARK, owned_key_problems
from stockman.config.source.tree import ScalarNode
from stockman.config.source.tree import TreeNode as Source
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
"""The patch of a file that another place refers to. None: the problem is told already."""
TextPosition = Callable[[ScalarNode], tuple[int, int] | None]
"""Line and column of the first character of a text; None: its lines are not those of the file."""


@record
class PatchSet:
    """All patches of a cluster, by whom they are for, in the order in which they apply."""

    all: tuple[Patch, ...] = ()
    controller: tuple[Patch, ...] = ()
    worker: tuple[Patch, ...] = ()
    classes: Mapping[NodeName, tuple[Patch, ...]] = field(default_factory=dict)
    """What classes give to each node."""
    nodes: Mapping[NodeName, tuple[Patch, ...]] = field(default_factory=dict)

    @property
    def is_empty(self) -> bool:
        return not (self.all or self.controller or self.worker or self.classes or self.nodes)

    def of(self, node: Node, cluster: Cluster) -> tuple[Patch, ...]:
        """The patches of one node; a later one wins."""
        specific = (
            *(self.controller if node.is_controller else self.worker),
            *self.classes.get(node.name, ()),
            *self.nodes.get(node.name, ()),
        )
        if cluster.talos.patch_order == "talhelper":
            return (*specific, *self.all)
        return (*self.all, *specific)

    def each(self) -> Iterable[Patch]:
        """Every patch once."""
        groups = [self.all, self.controller, self.worker]
        groups += [*self.classes.values(), *self.nodes.values()]
        return dict.fromkeys(patch for group in groups for patch in group)


@record
class PatchLocations:
    """How patches stand in the configuration files."""

    nodes: Mapping[Position, Source]
    """Patches as they were read, by where they stand."""
    referenced: ResolvePatchFile
    text_place: TextPosition


def build_patch_set(
    desired: Desired, written: PatchLocations, files: Mapping[PatchScopeName, tuple[Patch, ...]]
) -> PatchSet:
    """The patches of all nodes: in each scope those of files first, then those of the keys."""
    if desired.cluster is None:
        return PatchSet()
    keys = _KeyPatches(written)
    shared = desired.cluster.talos.patches
    scopes = {
        scope: (*files.get(scope, ()), *keys.patches(getattr(shared, scope), shared.origins, scope))
        for scope in ("all", "controller", "worker")
    }
    classes: dict[NodeName, tuple[Patch, ...]] = {}
    nodes: dict[NodeName, tuple[Patch, ...]] = {}
    for node in desired.nodes:
        given = {f"patches[{index}]": one for index, one in enumerate(node.patches)}
        inherited = {key for key in given if _is_inherited(node, key)}
        from_class = keys.named(given, inherited, node.origins)
        own = keys.named(given, given.keys() - inherited, node.origins)
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
    """Makes patches of the values of keys; one that several nodes share is made once."""

    def __init__(self, written: PatchLocations) -> None:
        self._written = written
        self._known: dict[Position, Patch | None] = {}

    def patches(
        self, values: tuple[object, ...], origins: Mapping[str, Origin], name: str
    ) -> tuple[Patch, ...]:
        given = {f"{name}[{index}]": one for index, one in enumerate(values)}
        return self.named(given, given.keys(), origins)

    def named(
        self,
        given: Mapping[str, object],
        chosen: Iterable[str],
        origins: Mapping[str, Origin],
    ) -> tuple[Patch, ...]:
        wanted = set(chosen)
        found = [self._patch(one, origins[key]) for key, one in given.items() if key in wanted]
        return tuple(one for one in found if one is not None)

    def _patch(self, value: object, origin: Origin) -> Patch | None:
        if origin.at not in self._known:
            self._known[origin.at] = self._made(value, origin)
        return self._known[origin.at]

    def _made(self, value: object, origin: Origin) -> Patch | None:
        file = origin.at.file
        node = self._written.nodes.get(origin.at)
        if not isinstance(value, str):
            return Patch(label=origin.name, file=file, text="", node=node)
        if value.startswith(FILE_MARK):
            return self._written.referenced(value.removeprefix(FILE_MARK), origin)
        place = self._written.text_place(node) if isinstance(node, ScalarNode) else None
        if place is None:
            return Patch(label=origin.name, file=file, text=value, place=origin.at)
        line, column = place
        return Patch(label=origin.name, file=file, text=value, first_line=line, first_column=column)


def check_reserved_paths(patches: PatchSet, problems: Problems) -> None:
    """Tell of patches that touch what stockman decides, and of those that are no YAML."""
    for patch in patches.each():
        if patch.node is not None:
            continue  # the rules of the configuration looked at it already
        try:
            nodes = _read_documents(patch)
        except StockmanError as error:
            problems.add(error.problem)
            continue
        for node in nodes:
            problems.extend(
                _with_position(one, patch) for one in owned_key_problems(node, patch.label)
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


def _read_documents(patch: Patch) -> tuple[Source, ...]:
    from stockman.talos.patches.apply import read_patch

    return read_patch(patch)
