"""Migrate configurations and patches from one contract to a newer one."""

from __future__ import annotations

from collections.abc import Iterable

from stockman.config.source.tree import MappingNode, ScalarNode, SequenceNode, TreeNode
from stockman.model.origin import Origin, derivation
from stockman.model.problem import Problem, Problems
from stockman.model.record import record
from stockman.talos.documents import CONTROLLER_KINDS
from stockman.talos.go_yaml import dump
from stockman.talos.migration.control_plane import (
    drop_controller_settings,
    migrate_control_plane,
    migrate_nodes,
    migrate_worker_endpoint,
)
from stockman.talos.migration.draft import (
    ConfigDraft,
    ConfigEdit,
    Configuration,
    Plain,
    contract_path,
    detect_contract,
    find_moved_field,
)
from stockman.talos.migration.links import migrate_links
from stockman.talos.migration.system import (
    migrate_disks,
    migrate_encryption,
    migrate_host,
    migrate_kernel_command_line,
    migrate_overlay_and_environment,
    migrate_registries,
    migrate_system,
    migrate_volume_defaults,
)
from stockman.talos.patches.apply import documents_of
from stockman.talos.patches.decode import V1ALPHA1, ConfigDocument, Decoder, Path, decode_document
from stockman.talos.patches.deletes import PatchDelete, take_deletes
from stockman.talos.patches.patch import InvalidValue, path_text
from stockman.talos.patches.schema import Branch, Items, Leaf, Tree, load_schema

_MIGRATED = derivation("the migration of the contract")


@record
class MigrationOptions:
    """User options of a migration."""

    new_defaults: bool = False
    """Whether to adopt defaults of the newer contract. Without it the behaviour does not
    change."""
    keep_oidc: bool = False
    """Whether to keep OIDC arguments, and with them the v1alpha1 form of the API
    server."""


@record
class Migration:
    """The result of a migration, its edits, and warnings."""

    source: str
    target: str
    edits: tuple[ConfigEdit, ...]
    warnings: tuple[Problem, ...]
    documents: tuple[ConfigDocument, ...]
    """The configuration in the newer contract."""


def migrate_configuration(
    documents: Iterable[ConfigDocument], target: str, options: MigrationOptions | None = None
) -> Migration:
    """Migrate a whole configuration to contract `target`; raises Refused for a downgrade."""
    source_documents = tuple(documents)
    draft = _run_steps(source_documents, target, options or MigrationOptions(), fragment=False)
    return Migration(
        source=detect_contract(source_documents),
        target=target,
        edits=tuple(draft.edits),
        warnings=tuple(draft.problems),
        documents=documents_of(_trees(draft.configuration), target),
    )


def migrate_patch(
    documents: Iterable[ConfigDocument], target: str, options: MigrationOptions | None = None
) -> ConfigDraft:
    """Migrate a patch to contract `target`, only its own settings."""
    return _run_steps(tuple(documents), target, options or MigrationOptions(), fragment=True)


def _run_steps(
    documents: tuple[ConfigDocument, ...], target: str, options: MigrationOptions, *, fragment: bool
) -> ConfigDraft:
    draft = ConfigDraft(
        documents, fragment=fragment, adopt=options.new_defaults, keep_oidc=options.keep_oidc
    )
    contract_path(detect_contract(documents), target)
    for line in contract_path("1.11", target):
        draft.since = line
        _STEPS[line](draft)
    return draft


def _to_112(draft: ConfigDraft) -> None:
    migrate_host(draft)
    migrate_links(draft)
    migrate_registries(draft)
    migrate_encryption(draft)
    migrate_disks(draft)
    migrate_kernel_command_line(draft)


def _to_114(draft: ConfigDraft) -> None:
    migrate_system(draft)
    migrate_volume_defaults(draft)
    migrate_nodes(draft)
    if draft.is_worker:
        drop_controller_settings(draft)
        migrate_worker_endpoint(draft)
    else:
        migrate_control_plane(draft)


_STEPS = {"1.12": _to_112, "1.13": migrate_overlay_and_environment, "1.14": _to_114}


def _trees(configuration: Configuration) -> list[Branch]:
    return [tree for tree in map(_tree, configuration.values()) if isinstance(tree, Branch)]


def _tree(value: object) -> Tree:
    if isinstance(value, dict):
        return Branch(_MIGRATED, {key: _tree(item) for key, item in value.items()})
    if isinstance(value, list):
        return Items(_MIGRATED, [_tree(item) for item in value])
    return Leaf(value, _MIGRATED)


@record
class PatchEdits:
    """The edits of one patch."""

    label: str
    """The name the user knows: `talos.patches.all[0]`, or its file name."""
    edits: tuple[ConfigEdit, ...]
    warnings: tuple[Problem, ...]
    text: str
    """The patch in the newer contract. Empty: it does not change."""


def plan_patch_edits(
    label: str, nodes: tuple[TreeNode, ...], target: str, *, for_workers: bool
) -> PatchEdits:
    """Plan the edits of one patch, given as its parsed documents.

    `for_workers`: whether workers get the patch too. Raises PatchRefused if Talos refuses it.
    The documents are changed.
    """
    schema = load_schema(target)
    decoder = Decoder(schema, _origin)
    problems = Problems()
    documents = []
    deletes: list[PatchDelete] = []
    try:
        for node in nodes:
            if isinstance(node, ScalarNode) and node.is_null:
                continue
            if isinstance(node, SequenceNode):
                _refuse_operations(label, node, target, problems)
                continue
            remaining, node_deletes = take_deletes(node)
            deletes += node_deletes
            if isinstance(remaining, MappingNode):
                documents.append(decode_document(schema, remaining, decoder))
    except InvalidValue as error:
        raise error.error(label, error.at) from None
    draft = migrate_patch(documents, target, MigrationOptions())
    problems.extend(draft.problems)
    for delete in deletes:
        _check_delete(delete, target, problems)
    _check_roles(label, draft.edits, problems, for_workers=for_workers)
    return PatchEdits(
        label=label,
        edits=tuple(draft.edits),
        warnings=tuple(problems),
        text=_text(list(draft.configuration.values())) if draft.edits else "",
    )


def _refuse_operations(label: str, node: SequenceNode, target: str, problems: Problems) -> None:
    problems.error(
        "patch.json6902",
        f"{label} is a list of operations",
        why=f"configurations of contract {target} have several documents, for which Talos refuses"
        " JSON patches",
        fix="write the patch as a strategic merge patch",
        at=node.at,
    )


def _check_delete(delete: PatchDelete, target: str, problems: Problems) -> None:
    entry = find_moved_field(".".join(delete.path), target) if delete.kind == V1ALPHA1 else None
    if entry is None:
        return
    problems.error(
        "migration.delete",
        f"a patch deletes {delete.path_text}, which no longer exists",
        why=f"contract {entry.since} moved it to {entry.to}",
        fix="delete it there: name the document and add `$patch: delete` to the field",
        at=delete.at,
    )


def _check_roles(
    label: str, edits: list[ConfigEdit], problems: Problems, *, for_workers: bool
) -> None:
    kinds = dict.fromkeys(edit.kind for edit in edits if edit.kind in CONTROLLER_KINDS)
    if for_workers and kinds:
        problems.error(
            "migration.workers",
            f"{label} becomes {', '.join(kinds)}, but also applies to workers",
            why="Talos refuses these documents on workers",
            fix="move this part of the patch to talos.patches.controller",
            at=next((edit.origin for edit in edits if edit.origin is not None), label),
        )


def _text(documents: list[Plain]) -> str:
    non_empty = [_without_empty(document) for document in documents]
    relevant = [
        document
        for document in non_empty
        if set(document) - {"version", "apiVersion", "kind", "name"}
    ]
    return "---\n".join(dump(document) for document in relevant)


def _without_empty(document: Plain) -> Plain:
    return {key: value for key, value in document.items() if value != {}}


def _origin(node: TreeNode, path: Path) -> Origin:
    return Origin(node.at, path_text(path))
