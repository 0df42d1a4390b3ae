"""Patches on machine configurations, in their order, each value traced to its patch."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from stockman.config.source.tree import MappingNode, ScalarNode, SequenceNode, TreeNode, copy_node
from stockman.model.origin import Origin, Position
from stockman.model.problem import Problems
from stockman.model.record import record
from stockman.talos.patches.decode import Decoder, Path
from stockman.talos.patches.deletes import PatchDelete, apply_delete, take_deletes
from stockman.talos.patches.documents import (
    V1ALPHA1,
    ConfigDocument,
    check_no_timestamps,
    combine_documents,
    decode_document,
    raw_text,
)
from stockman.talos.patches.merge import merge_documents
from stockman.talos.patches.operations import JsonOperation, apply_operations
from stockman.talos.patches.patch import InvalidValue, Patch, PatchRefused, path_text
from stockman.talos.patches.reader import read_documents
from stockman.talos.patches.schema import TypeSchema, load_schema
from stockman.talos.patches.tree import (
    Branch,
    TracedMapping,
    TracedScalar,
    TracedSequence,
    Tree,
    as_node,
)

_NULLS_SKIPPED = 12
"""The first minor that passes over documents without content."""
_LENIENT = 14
"""The first minor that takes a document twice in a patch, and passes over what it cannot delete."""


def apply_patches(
    documents: Iterable[ConfigDocument],
    patches: Iterable[Patch],
    minor: str,
    problems: Problems | None = None,
) -> tuple[ConfigDocument, ...]:
    """The documents with all patches in them; raises PatchRefused at the first that does not apply.

    What is given is not changed. `minor`: whose rules hold, `1.13`. With `problems`, patches that
    do not apply are told there and left out.
    """
    known = load_schema(minor)
    result = tuple(documents)
    copied_before: dict[int, ConfigDocument] = {}
    printed = False
    for patch in patches:
        try:
            steps = _prepare_patch(patch, minor)
            if steps.operations is None:
                result, printed = _apply_strategic(known, result, steps, copied_before), True
            else:
                result = _apply_json_patch(known, result, steps.operations, printed=printed)
        except InvalidValue as misfit:
            refusal = _patch_refused(misfit, patch)
            if problems is None:
                raise refusal from None
            problems.add(refusal.problem)
    return result


def read_patch(patch: Patch) -> tuple[TreeNode, ...]:
    """The documents of a patch before Talos' types; raises PatchRefused where it is no YAML."""
    try:
        return _nodes(patch)
    except InvalidValue as misfit:
        raise _patch_refused(misfit, patch) from None


def load_documents(
    file: str, text: str, minor: str, *, label: str = "", place: Position | None = None
) -> tuple[ConfigDocument, ...]:
    """The documents of a machine configuration's text; raises PatchRefused where Talos refuses."""
    known = load_schema(minor)
    patch = Patch(label=label or file, file=file, text=text, place=place)
    decoder = Decoder(known, _PatchPositions(patch).origin)
    try:
        nodes = _mappings(known, read_documents(file, text))
        _check_duplicates(nodes)
        return combine_documents([decode_document(known, node, decoder) for node in nodes], known)
    except InvalidValue as misfit:
        raise _patch_refused(misfit, patch) from None


def documents_of(trees: Iterable[Branch], minor: str) -> tuple[ConfigDocument, ...]:
    """Documents of trees that know their origins; raises PatchRefused where Talos refuses."""
    known = load_schema(minor)
    decoder = Decoder(known, _origin)
    try:
        return combine_documents(
            [decode_document(known, _mapping(tree), decoder) for tree in trees], known
        )
    except InvalidValue as misfit:
        raise misfit.error("the configuration", misfit.at) from None


@record
class _PreparedPatch:
    """A patch made ready: what it deletes and merges, or the operations that it is."""

    strategic: tuple[PatchDelete | ConfigDocument, ...] = ()
    operations: tuple[JsonOperation, ...] | None = None


def _nodes(patch: Patch) -> tuple[TreeNode, ...]:
    if patch.node is not None:
        return (copy_node(patch.node),)
    return read_documents(patch.file, patch.text, patch.first_line, patch.first_column)


@lru_cache(maxsize=512)
def _prepare_patch(patch: Patch, minor: str) -> _PreparedPatch:
    """Strategic first; a list of operations where that fails, as Talos tries it."""
    known = load_schema(minor)
    nodes = _nodes(patch)
    first = nodes[0] if nodes else None
    if isinstance(first, SequenceNode):
        return _PreparedPatch(operations=_parse_operations(known, first, patch))
    if all(isinstance(node, ScalarNode) and node.is_null for node in nodes):
        return _PreparedPatch(operations=())
    return _PreparedPatch(strategic=_parse_strategic(known, nodes, patch))


def _parse_strategic(
    known: TypeSchema, nodes: tuple[TreeNode, ...], patch: Patch
) -> tuple[PatchDelete | ConfigDocument, ...]:
    decoder = Decoder(known, _PatchPositions(patch).origin)
    steps: list[PatchDelete | ConfigDocument] = []
    kept: list[MappingNode] = []
    for node in nodes:
        if isinstance(node, ScalarNode) and node.is_null:
            _mappings(known, (node,))
            continue
        left, deletes = take_deletes(node)
        steps += deletes
        if left is None:
            continue
        (mapping,) = _mappings(known, (left,))
        kept.append(mapping)
        steps.append(decode_document(known, mapping, decoder))
    if known.number < _LENIENT:
        _check_duplicates(kept)
        combine_documents([one for one in steps if isinstance(one, ConfigDocument)], known)
    return _order_steps(steps, oldest_first=known.number < _LENIENT)


def _order_steps(
    steps: list[PatchDelete | ConfigDocument], *, oldest_first: bool
) -> tuple[PatchDelete | ConfigDocument, ...]:
    """Deletes of the oldest document first, then that document itself, then all else."""

    def rank(step: PatchDelete | ConfigDocument) -> int:
        if isinstance(step, PatchDelete):
            return 0 if step.kind == V1ALPHA1 else 2
        return 1 if oldest_first and step.kind.name == V1ALPHA1 else 2

    return tuple(sorted(steps, key=rank))


def _apply_strategic(
    known: TypeSchema,
    documents: tuple[ConfigDocument, ...],
    steps: _PreparedPatch,
    copied_before: dict[int, ConfigDocument],
) -> tuple[ConfigDocument, ...]:
    """The documents with one patch; `copied_before`: those that Talos could copy, by identity."""
    result = {document.identity: document for document in documents}
    for document in documents:
        if id(document) not in copied_before:
            check_no_timestamps(document)
            copied_before[id(document)] = document
    met = set(result)
    for step in steps.strategic:
        ours = result.get(step.identity) if step.identity in met else None
        if isinstance(step, ConfigDocument):
            if ours is None and known.number >= _LENIENT:
                check_no_timestamps(step)
                met.add(step.identity)
            result[step.identity] = step if ours is None else _merge_into(known, ours, step)
        elif ours is None:
            _check_delete_target(known, step)
        elif step.path:
            tree = apply_delete(known, ours.kind.type, ours.tree, step)
            result[step.identity] = ConfigDocument(kind=ours.kind, tree=tree)
        else:
            del result[step.identity]
            met.discard(step.identity)
    return combine_documents(result.values(), known)


def _check_delete_target(known: TypeSchema, delete: PatchDelete) -> None:
    """A deletion from a document that does not exist is passed over, but not by every minor."""
    if delete.name and known.number < _LENIENT:
        raise InvalidValue(
            code="patch.delete",
            what=f"{delete.path_text} cannot be deleted",
            why=f"Talos {known.minor} breaks where {delete.kind} {delete.name} does not exist",
            fix="remove the delete",
            at=delete.at,
        )


def _merge_into(known: TypeSchema, ours: ConfigDocument, theirs: ConfigDocument) -> ConfigDocument:
    return ConfigDocument(
        kind=ours.kind, tree=merge_documents(known, ours.kind.type, ours.tree, theirs.tree)
    )


def _apply_json_patch(
    known: TypeSchema,
    documents: tuple[ConfigDocument, ...],
    operations: tuple[JsonOperation, ...],
    *,
    printed: bool,
) -> tuple[ConfigDocument, ...]:
    if len(documents) != 1:
        raise InvalidValue(
            code="patch.json6902",
            what="the patch is a list of operations",
            why=f"Talos takes those on one document only, and here are {len(documents)}",
            fix="write the patch as the part of the configuration that it changes",
            at=operations[0].origin.at if operations else None,
        )
    tree = apply_operations(documents[0].printed() if printed else documents[0].tree, operations)
    return (decode_document(known, _mapping(tree), Decoder(known, _origin)),)


def _parse_operations(
    known: TypeSchema, node: SequenceNode, patch: Patch
) -> tuple[JsonOperation, ...]:
    places = _PatchPositions(patch)
    decoder = Decoder(known, places.origin)
    anything = known.type("any")
    found = []
    for index, item in enumerate(node.items):
        if not isinstance(item, MappingNode):
            raise InvalidValue(
                code="patch.operation",
                what=f"item {index} of the patch is no operation",
                why="an operation is a mapping with the keys op, path, from and value",
                fix="write the operation as a mapping",
                at=item.at,
            )
        value = item.get("value")
        found.append(
            JsonOperation(
                op=raw_text(item, "op"),
                path=_optional_text(item, "path"),
                source=_optional_text(item, "from"),
                value=None if value is None else decoder.decode(anything, value),
                origin=places.origin(item, (index,)),
            )
        )
    return tuple(found)


def _optional_text(item: MappingNode, key: str) -> str | None:
    return None if item.get(key) is None else raw_text(item, key)


def _mappings(known: TypeSchema, nodes: tuple[TreeNode, ...]) -> list[MappingNode]:
    found = []
    for node in nodes:
        if isinstance(node, MappingNode):
            found.append(node)
        elif not (isinstance(node, ScalarNode) and node.is_null and known.number >= _NULLS_SKIPPED):
            raise InvalidValue(
                code="patch.kind",
                what="a document is no mapping of keys",
                why="Talos reads documents of keys only",
                fix="remove the `---` that nothing follows, or write keys",
                at=node.at,
            )
    return found


def _check_duplicates(nodes: list[MappingNode]) -> None:
    seen: dict[tuple[str, str, str], Position] = {}
    for node in nodes:
        key = (
            raw_text(node, "apiVersion"),
            raw_text(node, "kind") or V1ALPHA1,
            raw_text(node, "name"),
        )
        if key in seen:
            raise InvalidValue(
                code="patch.twice",
                what=f"the document {' '.join(part for part in key[1:] if part)} stands here again",
                why=f"it stands at line {seen[key].line} already, and Talos takes each once",
                fix="join the two",
                at=node.at,
            )
        seen[key] = node.at


class _PatchPositions:
    """Says where the nodes of one patch were written."""

    def __init__(self, patch: Patch) -> None:
        self._place = patch.place
        self._label = "" if patch.label == patch.file else patch.label

    def origin(self, node: TreeNode, path: Path) -> Origin:
        return Origin(self._place or node.at, path_text(path), self._label)


def _origin(node: TreeNode, path: Path) -> Origin:
    if isinstance(node, TracedScalar | TracedMapping | TracedSequence):
        return node.origin
    return Origin(node.at, path_text(path))


def _mapping(tree: Tree) -> MappingNode:
    node = as_node(tree)
    return node if isinstance(node, MappingNode) else MappingNode(node.at)


def _patch_refused(misfit: InvalidValue, patch: Patch) -> PatchRefused:
    at = misfit.at or Position(patch.file, patch.first_line, 1)
    if patch.place is not None and at.file == patch.file:
        at = patch.place
    return misfit.error(patch.label, at)
