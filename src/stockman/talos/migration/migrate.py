"""A migration: the steps from one contract to another, in their order."""

from __future__ import annotations

from collections.abc import Iterable

from stockman.config.source.tree import MappingNode, ScalarNode, SequenceNode, TreeNode
from stockman.model.origin import Origin, derivation
from stockman.model.problem import Problem, Problems
from stockman.model.record import record
from stockman.talos.documents import CONTROLLER_KINDS
from stockman.talos.go_yaml import dump
from stockman.talos.migration.contracts import contract_path, detect_contract, find_moved_field
from stockman.talos.migration.control_plane import migrate_control_plane, migrate_worker_endpoint
from stockman.talos.migration.draft import ConfigDraft, ConfigEdit, Configuration, Plain
from stockman.talos.migration.host import migrate_host, migrate_registries
from stockman.talos.migration.links import migrate_links
from stockman.talos.migration.nodes import drop_controller_settings, migrate_nodes
from stockman.talos.migration.system import (
    migrate_disks,
    migrate_encryption,
    migrate_kernel_command_line,
    migrate_overlay_and_environment,
    migrate_system,
    migrate_volume_defaults,
)
from stockman.talos.patches.apply import documents_of
from stockman.talos.patches.decode import Decoder, Path
from stockman.talos.patches.deletes import PatchDelete, take_deletes
from stockman.talos.patches.documents import V1ALPHA1, ConfigDocument, decode_document
from stockman.talos.patches.patch import InvalidValue, path_text
from stockman.talos.patches.schema import load_schema
from stockman.talos.patches.tree import Branch, Items, Leaf, Tree

_MIGRATED = derivation("the migration of the contract")


@record
class MigrationOptions:
    """What a migration leaves to its user."""

    new_defaults: bool = False
    """Whether defaults of the newer contract are taken over. Without it nothing changes for the
    machine."""
    keep_oidc: bool = False
    """Whether arguments that name an identity provider stay, and with them the v1alpha1 form of
    the API server."""


@record
class Migration:
    """What a configuration becomes, by which edits, and what to know about it."""

    source: str
    target: str
    edits: tuple[ConfigEdit, ...]
    warnings: tuple[Problem, ...]
    documents: tuple[ConfigDocument, ...]
    """The configuration of the newer contract."""


def migrate_configuration(
    documents: Iterable[ConfigDocument], target: str, choices: MigrationOptions | None = None
) -> Migration:
    """A whole configuration in the style of `target`; refuses to go back to an older one."""
    given = tuple(documents)
    draft = _run_steps(given, target, choices or MigrationOptions(), fragment=False)
    return Migration(
        source=detect_contract(given),
        target=target,
        edits=tuple(draft.edits),
        warnings=tuple(draft.problems),
        documents=documents_of(_trees(draft.configuration), target),
    )


def migrate_patch(
    documents: Iterable[ConfigDocument], target: str, choices: MigrationOptions | None = None
) -> ConfigDraft:
    """A patch in the style of `target`: only what it says is moved."""
    return _run_steps(tuple(documents), target, choices or MigrationOptions(), fragment=True)


def _run_steps(
    documents: tuple[ConfigDocument, ...], target: str, choices: MigrationOptions, *, fragment: bool
) -> ConfigDraft:
    draft = ConfigDraft(
        documents, fragment=fragment, adopt=choices.new_defaults, keep_oidc=choices.keep_oidc
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
    """How one patch changes."""

    label: str
    """What people call it: `talos.patches.all[0]`, or the name of its file."""
    edits: tuple[ConfigEdit, ...]
    warnings: tuple[Problem, ...]
    text: str
    """The patch in the style of the newer contract. Empty: it stays as it is."""


def plan_patch_edits(
    label: str, nodes: tuple[TreeNode, ...], target: str, *, for_workers: bool
) -> PatchEdits:
    """The edits of one patch, given as the documents that were read from it.

    `for_workers`: whether workers get the patch too. Raises PatchRefused where Talos refuses it.
    What is given is changed.
    """
    known = load_schema(target)
    decoder = Decoder(known, _origin)
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
            left, found = take_deletes(node)
            deletes += found
            if isinstance(left, MappingNode):
                documents.append(decode_document(known, left, decoder))
    except InvalidValue as misfit:
        raise misfit.error(label, misfit.at) from None
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
        why=f"configurations of contract {target} have several documents, and Talos refuses JSON"
        " patches on those",
        fix="write the patch as the part of the configuration that it changes",
        at=node.at,
    )


def _check_delete(delete: PatchDelete, target: str, problems: Problems) -> None:
    entry = find_moved_field(".".join(delete.path), target) if delete.kind == V1ALPHA1 else None
    if entry is None:
        return
    problems.error(
        "migration.delete",
        f"{delete.path_text} is deleted by a patch, and will not be there any more",
        why=f"contract {entry.since} says it in {entry.to}",
        fix="delete it there: name the document and put `$patch: delete` below the field",
        at=delete.at,
    )


def _check_roles(
    label: str, edits: list[ConfigEdit], problems: Problems, *, for_workers: bool
) -> None:
    kinds = dict.fromkeys(edit.kind for edit in edits if edit.kind in CONTROLLER_KINDS)
    if for_workers and kinds:
        problems.error(
            "migration.workers",
            f"{label} becomes {', '.join(kinds)}, and workers get it too",
            why="Talos refuses these documents on workers",
            fix="move this part of the patch to talos.patches.controller",
            at=next((edit.origin for edit in edits if edit.origin is not None), label),
        )


def _text(documents: list[Plain]) -> str:
    filled = [_without_empty(one) for one in documents]
    said = [one for one in filled if set(one) - {"version", "apiVersion", "kind", "name"}]
    return "---\n".join(dump(one) for one in said)


def _without_empty(document: Plain) -> Plain:
    return {key: value for key, value in document.items() if value != {}}


def _origin(node: TreeNode, path: Path) -> Origin:
    return Origin(node.at, path_text(path))
