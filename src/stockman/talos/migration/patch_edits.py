"""What has to change in a user's patches when the contract of the cluster changes."""

from __future__ import annotations

from stockman.config.source.tree import Mapping, Node, Scalar, Sequence
from stockman.model.origin import Origin
from stockman.model.problem import Problem, Problems
from stockman.model.record import record
from stockman.talos.controller_documents import CONTROLLERS_ONLY
from stockman.talos.go_yaml import dump
from stockman.talos.migration.edit import Edit, Plain
from stockman.talos.migration.migrate import Choices, migrated_patch
from stockman.talos.migration.moved import moved
from stockman.talos.patches.decode import Decoder, Path
from stockman.talos.patches.deletes import Delete, take_deletes
from stockman.talos.patches.documents import V1ALPHA1, decoded
from stockman.talos.patches.problems import Misfit, path_text
from stockman.talos.patches.table import table


@record
class PatchEdits:
    """How one patch changes."""

    label: str
    """What people call it: `talos.patches.all[0]`, or the name of its file."""
    edits: tuple[Edit, ...]
    warnings: tuple[Problem, ...]
    text: str
    """The patch in the style of the newer contract. Empty: it stays as it is."""


def patch_edits(
    label: str, nodes: tuple[Node, ...], target: str, *, for_workers: bool
) -> PatchEdits:
    """The edits of one patch, given as the documents that were read from it.

    `for_workers`: whether workers get the patch too. Raises PatchRefused where Talos refuses it.
    What is given is changed.
    """
    known = table(target)
    decoder = Decoder(known, _origin)
    problems = Problems()
    documents = []
    deletes: list[Delete] = []
    try:
        for node in nodes:
            if isinstance(node, Scalar) and node.is_null:
                continue
            if isinstance(node, Sequence):
                _refuse_operations(label, node, target, problems)
                continue
            left, found = take_deletes(node)
            deletes += found
            if isinstance(left, Mapping):
                documents.append(decoded(known, left, decoder))
    except Misfit as misfit:
        raise misfit.error(label, misfit.at) from None
    draft = migrated_patch(documents, target, Choices())
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


def _refuse_operations(label: str, node: Sequence, target: str, problems: Problems) -> None:
    problems.error(
        "patch.json6902",
        f"{label} is a list of operations",
        why=f"configurations of contract {target} have several documents, and Talos refuses JSON"
        " patches on those",
        fix="write the patch as the part of the configuration that it changes",
        at=node.at,
    )


def _check_delete(delete: Delete, target: str, problems: Problems) -> None:
    entry = moved(".".join(delete.path), target) if delete.kind == V1ALPHA1 else None
    if entry is None:
        return
    problems.error(
        "migration.delete",
        f"{delete.path_text} is deleted by a patch, and will not be there any more",
        why=f"contract {entry.since} says it in {entry.to}",
        fix="delete it there: name the document and put `$patch: delete` below the field",
        at=delete.at,
    )


def _check_roles(label: str, edits: list[Edit], problems: Problems, *, for_workers: bool) -> None:
    kinds = dict.fromkeys(edit.kind for edit in edits if edit.kind in CONTROLLERS_ONLY)
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


def _origin(node: Node, path: Path) -> Origin:
    return Origin(node.at, path_text(path))
