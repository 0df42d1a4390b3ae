"""All checks of a rendered tree; everything that is wrong becomes a problem."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from stockman.model.origin import Position
from stockman.model.problem import Problems
from stockman.model.record import record
from stockman.rendering.checks.applied_objects import AppliedTree, find_applied_objects
from stockman.rendering.checks.dependencies import find_cycles, find_dangling
from stockman.rendering.checks.kinds import find_faults, load_kind
from stockman.rendering.checks.metadata import find_metadata_faults
from stockman.rendering.checks.objects import ObjectIdentity, TreeObject, read_objects
from stockman.rendering.checks.pins import loose_pins, unknown_charts
from stockman.rendering.checks.references import ExternalReference, missing_references
from stockman.rendering.repository import RenderedRepository

_NO_FILES: Mapping[str, str] = MappingProxyType({})
_BUILTIN_NAMESPACES = frozenset({"", "default", "kube-system", "kube-public", "kube-node-lease"})


@record
class TreeCheck:
    """What the checks looked at, and what they could not judge."""

    objects: int
    not_checked: Mapping[str, int]
    """Kinds without a table, `example.com/v1 Meadow`, each with the number of its objects."""
    elsewhere: tuple[ExternalReference, ...]
    """Secrets and ConfigMaps that others make, each with the reason."""


def check_tree(
    rendered: RenderedRepository, problems: Problems, others: Mapping[str, str] = _NO_FILES
) -> TreeCheck:
    """Judge everything that is rendered.

    `others` are the user's own files below `kubernetes`, path and text: what they hold may be
    named by rendered files, and is not judged itself.
    """
    files = read_objects(rendered.tree, others)
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
    ours = [one for one in files if one.ours]
    not_checked = _check_shapes(ours, problems)
    found = find_applied_objects(files)
    _check_files(found, problems)
    _check_order(found, problems)
    _check_identities(found, problems)
    _check_namespaces(found, problems)
    asked_for = frozenset(one.scene.tag for one in rendered.selection if one.scene.wish.version)
    _check_pins(ours, asked_for, problems)
    pending = {
        f"{placed.app.namespace}/{placed.app.name}": placed.app.pending
        for placed in rendered.apps
        if placed.app.pending
    }
    elsewhere = _check_references(found, pending, problems)
    return TreeCheck(objects=len(ours), not_checked=not_checked, elsewhere=elsewhere)


def _check_shapes(objects: list[TreeObject], problems: Problems) -> dict[str, int]:
    not_checked: dict[str, int] = {}
    for one in objects:
        known = load_kind(one.api_version, one.kind)
        if known is None:
            name = f"{one.api_version} {one.kind}"
            not_checked[name] = not_checked.get(name, 0) + 1
            continue
        own = {name: item for name, item in one.content.items() if name not in _COMMON_FIELDS}
        for fault in (*find_metadata_faults(one), *find_faults(own, known)):
            problems.error(
                "render.schema",
                f"{one.title} has a wrong {fault.place.removeprefix('.') or 'content'}",
                at=one.path,
                why=fault.why,
                fix=f"write what {one.api_version} {one.kind} allows there",
            )
    return dict(sorted(not_checked.items()))


_COMMON_FIELDS = ("apiVersion", "kind", "metadata", "status")


def _check_files(found: AppliedTree, problems: Problems) -> None:
    for one in found.missing:
        if one.ours:
            problems.error(
                "render.file-missing",
                f"{one.path} names {one.named}, which is not there",
                at=one.path,
                why="Flux applies nothing of a directory while a file of it is missing",
                fix=f"render {one.named} too, or take it out of {one.path}",
            )


def _check_order(found: AppliedTree, problems: Problems) -> None:
    for one in find_dangling(found):
        problems.error(
            "render.depends-missing",
            f"the app {one.app} waits for {one.wanted}, which is not there",
            at=one.path,
            why="Flux would wait for ever",
            fix=f"correct dependsOn of {one.app}, or render {one.wanted}",
        )
    for circle in find_cycles(found):
        problems.error(
            "render.depends-circle",
            f"the app {circle.names[0]} waits for itself",
            at=circle.path,
            why=" -> ".join(circle.names),
            fix="remove one of these from dependsOn",
        )


def _check_identities(found: AppliedTree, problems: Problems) -> None:
    seen: dict[ObjectIdentity, str] = {}
    for applied in found.objects:
        first = seen.setdefault(applied.identity, "")
        seen[applied.identity] = first or applied.one.path
        if not first or not applied.one.ours:
            continue
        places = first if first == applied.one.path else f"{first} and in {applied.one.path}"
        problems.error(
            "render.twice",
            f"{applied.one.title} is rendered twice",
            at=applied.one.path,
            why=f"it is{_is_inside(applied.namespace)} in {places}: one of them would be lost",
            fix="give one of them another name or another namespace",
        )


def _check_namespaces(found: AppliedTree, problems: Problems) -> None:
    there = {applied.one.name for applied in found.objects if applied.one.is_a("", "Namespace")}
    for applied in found.objects:
        if not applied.one.ours or applied.namespace in there | _BUILTIN_NAMESPACES:
            continue
        if "${" in applied.namespace or (not applied.app and applied.namespace == "flux-system"):
            continue
        problems.error(
            "render.namespace",
            f"{applied.one.title} is in the namespace {applied.namespace}, which is not there",
            at=applied.one.path,
            why="no file makes this namespace, and the cluster refuses objects in it",
            fix=f"render a Namespace {applied.namespace}, or name one that there is",
        )


def _check_pins(objects: list[TreeObject], asked_for: frozenset[str], problems: Problems) -> None:
    """`asked_for`: versions that the configuration names; what is to say of them was said there."""
    for one in objects:
        for loose in loose_pins(one):
            problems.error(
                "render.unpinned",
                f"{one.title} leaves the version of {loose.name} open",
                at=one.path,
                why=loose.why,
                fix=f"name one exact version of this {loose.what}",
            )
        for unknown in unknown_charts(one):
            if unknown.version not in asked_for:
                problems.warn(
                    "render.chart-unknown",
                    f"the tables do not know {unknown.chart} {unknown.version}",
                    at=one.path,
                    why=f"what stockman renders for it was checked with {unknown.known}",
                    fix="take the version that stockman knows,"
                    " or compare the chart's values of both",
                )


def _check_references(
    found: AppliedTree, pending: Mapping[str, str], problems: Problems
) -> tuple[ExternalReference, ...]:
    missing, elsewhere = missing_references(found, pending)
    for applied, one, has_name in missing:
        lacking = f"the key {one.key} of the {one.kind}" if has_name else f"the {one.kind}"
        problems.error(
            "render.reference",
            f"{applied.one.title} needs {lacking} {one.name}, which is not there",
            at=applied.one.path,
            why=f"no file{_is_inside(one.namespace)} makes it, and nothing starts without it",
            fix=f"render it, or correct the name in {applied.one.path}",
        )
    return tuple(elsewhere)


def _is_inside(namespace: str) -> str:
    return f" in the namespace {namespace}" if namespace else ""
