"""Patches on machine configurations, in their order, each value traced to its patch."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from stockman.config.source.tree import Mapping, Node, Scalar, Sequence, copied
from stockman.model.origin import Origin, Position
from stockman.model.problem import Problems
from stockman.model.record import record
from stockman.talos.patches.decode import Decoder, Path
from stockman.talos.patches.deletes import Delete, deleted, take_deletes
from stockman.talos.patches.documents import (
    V1ALPHA1,
    Document,
    decoded,
    raw,
    refuse_times,
    together,
)
from stockman.talos.patches.merge import merged
from stockman.talos.patches.operations import Operation, applied
from stockman.talos.patches.patch import Patch
from stockman.talos.patches.problems import Misfit, PatchRefused, path_text
from stockman.talos.patches.reading import read_documents
from stockman.talos.patches.table import Table, table
from stockman.talos.patches.traced import (
    TracedMapping,
    TracedScalar,
    TracedSequence,
    as_node,
)
from stockman.talos.patches.tree import Branch, Tree

_NULLS_SKIPPED = 12
"""The first minor that passes over documents without content."""
_LENIENT = 14
"""The first minor that takes a document twice in a patch, and passes over what it cannot delete."""


def apply_patches(
    documents: Iterable[Document],
    patches: Iterable[Patch],
    minor: str,
    problems: Problems | None = None,
) -> tuple[Document, ...]:
    """The documents with all patches in them; raises PatchRefused at the first that does not apply.

    What is given is not changed. `minor`: whose rules hold, `1.13`. With `problems`, patches that
    do not apply are told there and left out.
    """
    known = table(minor)
    result = tuple(documents)
    copied_before: dict[int, Document] = {}
    printed = False
    for patch in patches:
        try:
            steps = _prepared(patch, minor)
            if steps.operations is None:
                result, printed = _strategic(known, result, steps, copied_before), True
            else:
                result = _operated(known, result, steps.operations, printed=printed)
        except Misfit as misfit:
            refusal = _refusal(misfit, patch)
            if problems is None:
                raise refusal from None
            problems.add(refusal.problem)
    return result


def read_patch(patch: Patch) -> tuple[Node, ...]:
    """The documents of a patch before Talos' types; raises PatchRefused where it is no YAML."""
    try:
        return _nodes(patch)
    except Misfit as misfit:
        raise _refusal(misfit, patch) from None


def load_documents(
    file: str, text: str, minor: str, *, label: str = "", place: Position | None = None
) -> tuple[Document, ...]:
    """The documents of a machine configuration's text; raises PatchRefused where Talos refuses."""
    known = table(minor)
    patch = Patch(label=label or file, file=file, text=text, place=place)
    decoder = Decoder(known, _Places(patch).origin)
    try:
        nodes = _mappings(known, read_documents(file, text))
        _refuse_twins(nodes)
        return together([decoded(known, node, decoder) for node in nodes], known)
    except Misfit as misfit:
        raise _refusal(misfit, patch) from None


def documents_of(trees: Iterable[Branch], minor: str) -> tuple[Document, ...]:
    """Documents of trees that know their origins; raises PatchRefused where Talos refuses."""
    known = table(minor)
    decoder = Decoder(known, _origin)
    try:
        return together([decoded(known, _mapping(tree), decoder) for tree in trees], known)
    except Misfit as misfit:
        raise misfit.error("the configuration", misfit.at) from None


@record
class _Steps:
    """A patch made ready: what it deletes and merges, or the operations that it is."""

    strategic: tuple[Delete | Document, ...] = ()
    operations: tuple[Operation, ...] | None = None


def _nodes(patch: Patch) -> tuple[Node, ...]:
    if patch.node is not None:
        return (copied(patch.node),)
    return read_documents(patch.file, patch.text, patch.first_line, patch.first_column)


@lru_cache(maxsize=512)
def _prepared(patch: Patch, minor: str) -> _Steps:
    """Strategic first; a list of operations where that fails, as Talos tries it."""
    known = table(minor)
    nodes = _nodes(patch)
    first = nodes[0] if nodes else None
    if isinstance(first, Sequence):
        return _Steps(operations=_operations(known, first, patch))
    if all(isinstance(node, Scalar) and node.is_null for node in nodes):
        return _Steps(operations=())
    return _Steps(strategic=_strategic_steps(known, nodes, patch))


def _strategic_steps(
    known: Table, nodes: tuple[Node, ...], patch: Patch
) -> tuple[Delete | Document, ...]:
    decoder = Decoder(known, _Places(patch).origin)
    steps: list[Delete | Document] = []
    kept: list[Mapping] = []
    for node in nodes:
        if isinstance(node, Scalar) and node.is_null:
            _mappings(known, (node,))
            continue
        left, deletes = take_deletes(node)
        steps += deletes
        if left is None:
            continue
        (mapping,) = _mappings(known, (left,))
        kept.append(mapping)
        steps.append(decoded(known, mapping, decoder))
    if known.number < _LENIENT:
        _refuse_twins(kept)
        together([one for one in steps if isinstance(one, Document)], known)
    return _in_order(steps, oldest_first=known.number < _LENIENT)


def _in_order(
    steps: list[Delete | Document], *, oldest_first: bool
) -> tuple[Delete | Document, ...]:
    """Deletes of the oldest document first, then that document itself, then all else."""

    def rank(step: Delete | Document) -> int:
        if isinstance(step, Delete):
            return 0 if step.kind == V1ALPHA1 else 2
        return 1 if oldest_first and step.kind.name == V1ALPHA1 else 2

    return tuple(sorted(steps, key=rank))


def _strategic(
    known: Table,
    documents: tuple[Document, ...],
    steps: _Steps,
    copied_before: dict[int, Document],
) -> tuple[Document, ...]:
    """The documents with one patch; `copied_before`: those that Talos could copy, by identity."""
    result = {document.identity: document for document in documents}
    for document in documents:
        if id(document) not in copied_before:
            refuse_times(document)
            copied_before[id(document)] = document
    met = set(result)
    for step in steps.strategic:
        ours = result.get(step.identity) if step.identity in met else None
        if isinstance(step, Document):
            if ours is None and known.number >= _LENIENT:
                refuse_times(step)
                met.add(step.identity)
            result[step.identity] = step if ours is None else _merged(known, ours, step)
        elif ours is None:
            _refuse_missing(known, step)
        elif step.path:
            tree = deleted(known, ours.kind.type, ours.tree, step)
            result[step.identity] = Document(kind=ours.kind, tree=tree)
        else:
            del result[step.identity]
            met.discard(step.identity)
    return together(result.values(), known)


def _refuse_missing(known: Table, delete: Delete) -> None:
    """A deletion from a document that does not exist is passed over, but not by every minor."""
    if delete.name and known.number < _LENIENT:
        raise Misfit(
            code="patch.delete",
            what=f"{delete.path_text} cannot be deleted",
            why=f"Talos {known.minor} breaks where {delete.kind} {delete.name} does not exist",
            fix="remove the delete",
            at=delete.at,
        )


def _merged(known: Table, ours: Document, theirs: Document) -> Document:
    return Document(kind=ours.kind, tree=merged(known, ours.kind.type, ours.tree, theirs.tree))


def _operated(
    known: Table,
    documents: tuple[Document, ...],
    operations: tuple[Operation, ...],
    *,
    printed: bool,
) -> tuple[Document, ...]:
    if len(documents) != 1:
        raise Misfit(
            code="patch.json6902",
            what="the patch is a list of operations",
            why=f"Talos takes those on one document only, and here are {len(documents)}",
            fix="write the patch as the part of the configuration that it changes",
            at=operations[0].origin.at if operations else None,
        )
    tree = applied(documents[0].printed() if printed else documents[0].tree, operations)
    return (decoded(known, _mapping(tree), Decoder(known, _origin)),)


def _operations(known: Table, node: Sequence, patch: Patch) -> tuple[Operation, ...]:
    places = _Places(patch)
    decoder = Decoder(known, places.origin)
    anything = known.type("any")
    found = []
    for index, item in enumerate(node.items):
        if not isinstance(item, Mapping):
            raise Misfit(
                code="patch.operation",
                what=f"item {index} of the patch is no operation",
                why="an operation is a mapping with the keys op, path, from and value",
                fix="write the operation as a mapping",
                at=item.at,
            )
        value = item.get("value")
        found.append(
            Operation(
                op=raw(item, "op"),
                path=_optional(item, "path"),
                source=_optional(item, "from"),
                value=None if value is None else decoder.decode(anything, value),
                origin=places.origin(item, (index,)),
            )
        )
    return tuple(found)


def _optional(item: Mapping, key: str) -> str | None:
    return None if item.get(key) is None else raw(item, key)


def _mappings(known: Table, nodes: tuple[Node, ...]) -> list[Mapping]:
    found = []
    for node in nodes:
        if isinstance(node, Mapping):
            found.append(node)
        elif not (isinstance(node, Scalar) and node.is_null and known.number >= _NULLS_SKIPPED):
            raise Misfit(
                code="patch.kind",
                what="a document is no mapping of keys",
                why="Talos reads documents of keys only",
                fix="remove the `---` that nothing follows, or write keys",
                at=node.at,
            )
    return found


def _refuse_twins(nodes: list[Mapping]) -> None:
    seen: dict[tuple[str, str, str], Position] = {}
    for node in nodes:
        key = (raw(node, "apiVersion"), raw(node, "kind") or V1ALPHA1, raw(node, "name"))
        if key in seen:
            raise Misfit(
                code="patch.twice",
                what=f"the document {' '.join(part for part in key[1:] if part)} stands here again",
                why=f"it stands at line {seen[key].line} already, and Talos takes each once",
                fix="join the two",
                at=node.at,
            )
        seen[key] = node.at


class _Places:
    """Says where the nodes of one patch were written."""

    def __init__(self, patch: Patch) -> None:
        self._place = patch.place
        self._label = "" if patch.label == patch.file else patch.label

    def origin(self, node: Node, path: Path) -> Origin:
        return Origin(self._place or node.at, path_text(path), self._label)


def _origin(node: Node, path: Path) -> Origin:
    if isinstance(node, TracedScalar | TracedMapping | TracedSequence):
        return node.origin
    return Origin(node.at, path_text(path))


def _mapping(tree: Tree) -> Mapping:
    node = as_node(tree)
    return node if isinstance(node, Mapping) else Mapping(node.at)


def _refusal(misfit: Misfit, patch: Patch) -> PatchRefused:
    at = misfit.at or Position(patch.file, patch.first_line, 1)
    if patch.place is not None and at.file == patch.file:
        at = patch.place
    return misfit.error(patch.label, at)
