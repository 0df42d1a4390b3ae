"""Apply patches to machine configurations in their order; each value is traced to its patch."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from stockman.config.source.tree import MappingNode, ScalarNode, SequenceNode, TreeNode, copy_node
from stockman.model.origin import Origin, Position
from stockman.model.problem import Problems
from stockman.model.record import record
from stockman.talos.patches.decode import (
    V1ALPHA1,
    ConfigDocument,
    Decoder,
    Path,
    check_no_timestamps,
    combine_documents,
    decode_document,
    raw_text,
)
from stockman.talos.patches.deletes import (
    JsonOperation,
    PatchDelete,
    apply_delete,
    apply_operations,
    take_deletes,
)
from stockman.talos.patches.merge import merge_documents
from stockman.talos.patches.patch import (
    InvalidValue,
    Patch,
    PatchRefused,
    path_text,
    read_documents,
)
from stockman.talos.patches.schema import (
    Branch,
    TracedMapping,
    TracedScalar,
    TracedSequence,
    Tree,
    TypeSchema,
    as_node,
    load_schema,
)

_NULLS_SKIPPED = 12
"""The first minor that ignores documents without content."""
_LENIENT = 14
"""The first minor that accepts duplicate documents in a patch and deletes without a target."""


def apply_patches(
    documents: Iterable[ConfigDocument],
    patches: Iterable[Patch],
    minor: str,
    problems: Problems | None = None,
) -> tuple[ConfigDocument, ...]:
    """Return the documents with all patches applied; raises PatchRefused at the first invalid one.

    The arguments are not changed. `minor` selects the rules, `1.13`. With `problems`, invalid
    patches are reported there and left out.
    """
    schema = load_schema(minor)
    result = tuple(documents)
    copied_before: dict[int, ConfigDocument] = {}
    was_printed = False
    for patch in patches:
        try:
            steps = _prepare_patch(patch, minor)
            if steps.operations is None:
                result, was_printed = _apply_strategic(schema, result, steps, copied_before), True
            else:
                result = _apply_json_patch(schema, result, steps.operations, printed=was_printed)
        except InvalidValue as error:
            refused = _patch_refused(error, patch)
            if problems is None:
                raise refused from None
            problems.add(refused.problem)
    return result


def read_patch(patch: Patch) -> tuple[TreeNode, ...]:
    """Return the documents of a patch before decoding; raises PatchRefused for invalid YAML."""
    try:
        return _nodes(patch)
    except InvalidValue as error:
        raise _patch_refused(error, patch) from None


def load_documents(
    file: str, text: str, minor: str, *, label: str = "", place: Position | None = None
) -> tuple[ConfigDocument, ...]:
    """Decode the documents of a machine configuration; raises PatchRefused if Talos would."""
    schema = load_schema(minor)
    patch = Patch(label=label or file, file=file, text=text, place=place)
    decoder = Decoder(schema, _PatchPositions(patch).origin)
    try:
        nodes = _mappings(schema, read_documents(file, text))
        _check_duplicates(nodes)
        return combine_documents([decode_document(schema, node, decoder) for node in nodes], schema)
    except InvalidValue as error:
        raise _patch_refused(error, patch) from None


def documents_of(trees: Iterable[Branch], minor: str) -> tuple[ConfigDocument, ...]:
    """Decode documents from trees that know their origins; raises PatchRefused if Talos would."""
    schema = load_schema(minor)
    decoder = Decoder(schema, _origin)
    try:
        return combine_documents(
            [decode_document(schema, _mapping(tree), decoder) for tree in trees], schema
        )
    except InvalidValue as error:
        raise error.error("the configuration", error.at) from None


@record
class _PreparedPatch:
    """A parsed patch: its deletes and documents to merge, or its JSON operations."""

    strategic: tuple[PatchDelete | ConfigDocument, ...] = ()
    operations: tuple[JsonOperation, ...] | None = None


def _nodes(patch: Patch) -> tuple[TreeNode, ...]:
    if patch.node is not None:
        return (copy_node(patch.node),)
    return read_documents(patch.file, patch.text, patch.first_line, patch.first_column)


@lru_cache(maxsize=512)
def _prepare_patch(patch: Patch, minor: str) -> _PreparedPatch:
    """Parse a patch as strategic merge, or as JSON operations if it is a list."""
    schema = load_schema(minor)
    nodes = _nodes(patch)
    first = nodes[0] if nodes else None
    if isinstance(first, SequenceNode):
        return _PreparedPatch(operations=_parse_operations(schema, first, patch))
    if all(isinstance(node, ScalarNode) and node.is_null for node in nodes):
        return _PreparedPatch(operations=())
    return _PreparedPatch(strategic=_parse_strategic(schema, nodes, patch))


def _parse_strategic(
    schema: TypeSchema, nodes: tuple[TreeNode, ...], patch: Patch
) -> tuple[PatchDelete | ConfigDocument, ...]:
    decoder = Decoder(schema, _PatchPositions(patch).origin)
    steps: list[PatchDelete | ConfigDocument] = []
    kept: list[MappingNode] = []
    for node in nodes:
        if isinstance(node, ScalarNode) and node.is_null:
            _mappings(schema, (node,))
            continue
        remaining, deletes = take_deletes(node)
        steps += deletes
        if remaining is None:
            continue
        (mapping,) = _mappings(schema, (remaining,))
        kept.append(mapping)
        steps.append(decode_document(schema, mapping, decoder))
    if schema.number < _LENIENT:
        _check_duplicates(kept)
        combine_documents([step for step in steps if isinstance(step, ConfigDocument)], schema)
    return _order_steps(steps, v1alpha1_first=schema.number < _LENIENT)


def _order_steps(
    steps: list[PatchDelete | ConfigDocument], *, v1alpha1_first: bool
) -> tuple[PatchDelete | ConfigDocument, ...]:
    """Order deletes of the v1alpha1 document first, then that document, then all others."""

    def rank(step: PatchDelete | ConfigDocument) -> int:
        if isinstance(step, PatchDelete):
            return 0 if step.kind == V1ALPHA1 else 2
        return 1 if v1alpha1_first and step.kind.name == V1ALPHA1 else 2

    return tuple(sorted(steps, key=rank))


def _apply_strategic(
    schema: TypeSchema,
    documents: tuple[ConfigDocument, ...],
    steps: _PreparedPatch,
    copied_before: dict[int, ConfigDocument],
) -> tuple[ConfigDocument, ...]:
    """Apply one strategic patch; `copied_before` has the documents that Talos could copy, by ID."""
    result = {document.identity: document for document in documents}
    for document in documents:
        if id(document) not in copied_before:
            check_no_timestamps(document)
            copied_before[id(document)] = document
    present = set(result)
    for step in steps.strategic:
        ours = result.get(step.identity) if step.identity in present else None
        if isinstance(step, ConfigDocument):
            if ours is None and schema.number >= _LENIENT:
                check_no_timestamps(step)
                present.add(step.identity)
            result[step.identity] = step if ours is None else _merge_into(schema, ours, step)
        elif ours is None:
            _check_delete_target(schema, step)
        elif step.path:
            tree = apply_delete(schema, ours.kind.type, ours.tree, step)
            result[step.identity] = ConfigDocument(kind=ours.kind, tree=tree)
        else:
            del result[step.identity]
            present.discard(step.identity)
    return combine_documents(result.values(), schema)


def _check_delete_target(schema: TypeSchema, delete: PatchDelete) -> None:
    """Older minors fail on deletes in documents that do not exist."""
    if delete.name and schema.number < _LENIENT:
        raise InvalidValue(
            code="patch.delete",
            what=f"{delete.path_text} cannot be deleted",
            why=f"Talos {schema.minor} fails if {delete.kind} {delete.name} does not exist",
            fix="remove the delete",
            at=delete.at,
        )


def _merge_into(schema: TypeSchema, ours: ConfigDocument, theirs: ConfigDocument) -> ConfigDocument:
    return ConfigDocument(
        kind=ours.kind, tree=merge_documents(schema, ours.kind.type, ours.tree, theirs.tree)
    )


def _apply_json_patch(
    schema: TypeSchema,
    documents: tuple[ConfigDocument, ...],
    operations: tuple[JsonOperation, ...],
    *,
    printed: bool,
) -> tuple[ConfigDocument, ...]:
    if len(documents) != 1:
        raise InvalidValue(
            code="patch.json6902",
            what="the patch is a list of operations",
            why=f"Talos applies operations to a single document, but there are {len(documents)}",
            fix="write the patch as a strategic merge patch",
            at=operations[0].origin.at if operations else None,
        )
    tree = apply_operations(documents[0].canonical() if printed else documents[0].tree, operations)
    return (decode_document(schema, _mapping(tree), Decoder(schema, _origin)),)


def _parse_operations(
    schema: TypeSchema, node: SequenceNode, patch: Patch
) -> tuple[JsonOperation, ...]:
    positions = _PatchPositions(patch)
    decoder = Decoder(schema, positions.origin)
    any_type = schema.type("any")
    operations = []
    for index, item in enumerate(node.items):
        if not isinstance(item, MappingNode):
            raise InvalidValue(
                code="patch.operation",
                what=f"item {index} of the patch is not an operation",
                why="an operation is a mapping with the keys op, path, from and value",
                fix="write the operation as a mapping",
                at=item.at,
            )
        value = item.get("value")
        operations.append(
            JsonOperation(
                op=raw_text(item, "op"),
                path=_optional_text(item, "path"),
                source=_optional_text(item, "from"),
                value=None if value is None else decoder.decode(any_type, value),
                origin=positions.origin(item, (index,)),
            )
        )
    return tuple(operations)


def _optional_text(item: MappingNode, key: str) -> str | None:
    return None if item.get(key) is None else raw_text(item, key)


def _mappings(schema: TypeSchema, nodes: tuple[TreeNode, ...]) -> list[MappingNode]:
    mappings = []
    for node in nodes:
        if isinstance(node, MappingNode):
            mappings.append(node)
        elif not (
            isinstance(node, ScalarNode) and node.is_null and schema.number >= _NULLS_SKIPPED
        ):
            raise InvalidValue(
                code="patch.kind",
                what="a document is not a mapping",
                why="Talos documents are mappings of keys",
                fix="remove the `---` without content, or add keys",
                at=node.at,
            )
    return mappings


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
                what=f"the document {' '.join(name for name in key[1:] if name)} is defined twice",
                why=f"it is already defined at line {seen[key].line}, and Talos accepts each once",
                fix="merge the two",
                at=node.at,
            )
        seen[key] = node.at


class _PatchPositions:
    """Determines the positions of the nodes of one patch."""

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


def _patch_refused(error: InvalidValue, patch: Patch) -> PatchRefused:
    at = error.at or Position(patch.file, patch.first_line, 1)
    if patch.place is not None and at.file == patch.file:
        at = patch.place
    return error.error(patch.label, at)
