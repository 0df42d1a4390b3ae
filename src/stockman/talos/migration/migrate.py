"""A migration: the steps from one contract to another, in their order."""

from __future__ import annotations

from collections.abc import Iterable

from stockman.model.origin import derived
from stockman.model.problem import Problem
from stockman.model.record import record
from stockman.talos.migration.contracts import steps, style
from stockman.talos.migration.control_plane import control_plane, endpoint_of_worker
from stockman.talos.migration.draft import Draft
from stockman.talos.migration.edit import Configuration, Edit
from stockman.talos.migration.host import host
from stockman.talos.migration.links import links
from stockman.talos.migration.nodes import has_effect_on_controllers_only, nodes
from stockman.talos.migration.registries import registries
from stockman.talos.migration.system import (
    kernel_command_line,
    overlay_and_environment,
    system,
)
from stockman.talos.migration.volumes import disks, encryption, volume_defaults
from stockman.talos.patches.apply import documents_of
from stockman.talos.patches.documents import Document
from stockman.talos.patches.tree import Branch, Items, Leaf, Tree

_MADE = derived("the migration of the contract")


@record
class Choices:
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
    edits: tuple[Edit, ...]
    warnings: tuple[Problem, ...]
    documents: tuple[Document, ...]
    """The configuration of the newer contract."""


def migrated(
    documents: Iterable[Document], target: str, choices: Choices | None = None
) -> Migration:
    """A whole configuration in the style of `target`; refuses to go back to an older one."""
    given = tuple(documents)
    draft = _drafted(given, target, choices or Choices(), fragment=False)
    return Migration(
        source=style(given),
        target=target,
        edits=tuple(draft.edits),
        warnings=tuple(draft.problems),
        documents=documents_of(_trees(draft.configuration), target),
    )


def migrated_patch(
    documents: Iterable[Document], target: str, choices: Choices | None = None
) -> Draft:
    """A patch in the style of `target`: only what it says is moved."""
    return _drafted(tuple(documents), target, choices or Choices(), fragment=True)


def _drafted(
    documents: tuple[Document, ...], target: str, choices: Choices, *, fragment: bool
) -> Draft:
    draft = Draft(
        documents, fragment=fragment, adopt=choices.new_defaults, keep_oidc=choices.keep_oidc
    )
    steps(style(documents), target)
    for line in steps("1.11", target):
        draft.since = line
        _STEPS[line](draft)
    return draft


def _to_112(draft: Draft) -> None:
    host(draft)
    links(draft)
    registries(draft)
    encryption(draft)
    disks(draft)
    kernel_command_line(draft)


def _to_114(draft: Draft) -> None:
    system(draft)
    volume_defaults(draft)
    nodes(draft)
    if draft.is_worker:
        has_effect_on_controllers_only(draft)
        endpoint_of_worker(draft)
    else:
        control_plane(draft)


_STEPS = {"1.12": _to_112, "1.13": overlay_and_environment, "1.14": _to_114}


def _trees(configuration: Configuration) -> list[Branch]:
    return [tree for tree in map(_tree, configuration.values()) if isinstance(tree, Branch)]


def _tree(value: object) -> Tree:
    if isinstance(value, dict):
        return Branch(_MADE, {key: _tree(item) for key, item in value.items()})
    if isinstance(value, list):
        return Items(_MADE, [_tree(item) for item in value])
    return Leaf(value, _MADE)
