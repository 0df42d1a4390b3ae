"""Run all checks on a rendered tree and collect the problems."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from stockman.model.origin import Position
from stockman.model.problem import Problems, Severity
from stockman.model.record import record
from stockman.rendering.checks.kinds import find_faults, load_kind
from stockman.rendering.checks.objects import (
    AppliedTree,
    ObjectIdentity,
    TreeObject,
    find_applied_objects,
    read_objects,
)
from stockman.rendering.checks.plain_secrets import find_plain_secrets
from stockman.rendering.checks.references import (
    ExternalReference,
    check_order,
    check_pins,
    check_references,
    find_metadata_faults,
    in_namespace,
)
from stockman.rendering.repository import RenderedRepository

_NO_FILES: Mapping[str, str] = MappingProxyType({})
_BUILTIN_NAMESPACES = frozenset({"", "default", "kube-system", "kube-public", "kube-node-lease"})


@record
class TreeCheck:
    """The result of the checks, and what could not be checked."""

    objects: int
    not_checked: Mapping[str, int]
    """Number of objects by kind without a schema, `example.com/v1 Meadow`."""
    elsewhere: tuple[ExternalReference, ...]
    """Secrets and ConfigMaps created by others, each with the reason."""


def check_tree(
    rendered: RenderedRepository, problems: Problems, user_files: Mapping[str, str] = _NO_FILES
) -> TreeCheck:
    """Check all rendered files.

    `user_files` are the user's own files below `kubernetes`, as path and text: rendered files may
    refer to their objects, but they are not checked themselves.
    """
    files = read_objects(rendered.tree, user_files)
    for broken in files.unparsed:
        problems.error(
            "render.not-yaml",
            f"{broken.path} cannot be read",
            at=Position(file=broken.path, line=broken.line, column=1)
            if broken.line
            else broken.path,
            why=broken.why,
            fix="correct the template that this file comes from",
        )
    for file in rendered.tree:
        if isinstance(file.text, str):
            for plain in find_plain_secrets(file.path, file.text):
                problems.add(replace(plain, severity=Severity.ERROR))
    ours = [item for item in files if item.ours]
    not_checked = _check_shapes(ours, problems)
    applied_tree = find_applied_objects(files)
    _check_files(applied_tree, problems)
    check_order(applied_tree, problems)
    _check_identities(applied_tree, problems)
    _check_namespaces(applied_tree, problems)
    asked_for = frozenset(
        selected.context.tag for selected in rendered.selection if selected.context.options.version
    )
    for item in ours:
        check_pins(item, asked_for, problems)
    pending = {
        f"{placed.app.namespace}/{placed.app.name}": placed.app.pending
        for placed in rendered.apps
        if placed.app.pending
    }
    elsewhere = check_references(applied_tree, pending, problems)
    return TreeCheck(objects=len(ours), not_checked=not_checked, elsewhere=elsewhere)


def _check_shapes(objects: list[TreeObject], problems: Problems) -> dict[str, int]:
    not_checked: dict[str, int] = {}
    for tree_object in objects:
        known = load_kind(tree_object.api_version, tree_object.kind)
        if known is None:
            name = f"{tree_object.api_version} {tree_object.kind}"
            not_checked[name] = not_checked.get(name, 0) + 1
            continue
        own = {
            name: item for name, item in tree_object.content.items() if name not in _COMMON_FIELDS
        }
        for fault in (*find_metadata_faults(tree_object), *find_faults(own, known)):
            problems.error(
                "render.schema",
                f"{tree_object.title} has an invalid {fault.path.removeprefix('.') or 'content'}",
                at=tree_object.path,
                why=fault.why,
                fix=f"use a value that {tree_object.api_version} {tree_object.kind} allows",
            )
    return dict(sorted(not_checked.items()))


_COMMON_FIELDS = ("apiVersion", "kind", "metadata", "status")


def _check_files(applied_tree: AppliedTree, problems: Problems) -> None:
    for missing_path in applied_tree.missing:
        if missing_path.ours:
            problems.error(
                "render.file-missing",
                f"{missing_path.path} refers to {missing_path.named}, which does not exist",
                at=missing_path.path,
                why="Flux applies nothing in a directory if one of its files is missing",
                fix=f"render {missing_path.named} too, or remove it from {missing_path.path}",
            )


def _check_identities(applied_tree: AppliedTree, problems: Problems) -> None:
    seen: dict[ObjectIdentity, str] = {}
    for applied in applied_tree.objects:
        first = seen.setdefault(applied.identity, "")
        seen[applied.identity] = first or applied.object.path
        if not first or not applied.object.ours:
            continue
        paths = first if first == applied.object.path else f"{first} and in {applied.object.path}"
        problems.error(
            "render.twice",
            f"{applied.object.title} is rendered twice",
            at=applied.object.path,
            why=(
                f"it exists{in_namespace(applied.namespace)} in {paths}; only one of them "
                "would be applied"
            ),
            fix="rename one of them or use another namespace",
        )


def _check_namespaces(applied_tree: AppliedTree, problems: Problems) -> None:
    namespaces = {
        applied.object.name
        for applied in applied_tree.objects
        if applied.object.is_a("", "Namespace")
    }
    for applied in applied_tree.objects:
        if not applied.object.ours or applied.namespace in namespaces | _BUILTIN_NAMESPACES:
            continue
        if "${" in applied.namespace or (not applied.app and applied.namespace == "flux-system"):
            continue
        problems.error(
            "render.namespace",
            f"{applied.object.title} is in the namespace {applied.namespace}, which does not exist",
            at=applied.object.path,
            why="no file creates this namespace, so the API server would reject the object",
            fix=f"render a Namespace {applied.namespace}, or use an existing one",
        )
