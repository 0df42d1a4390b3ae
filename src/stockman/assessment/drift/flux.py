"""What differs between an object as it is rendered and the one in the cluster."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field

from stockman.assessment.drift.objects import (
    field_author,
    is_field_managed_by_flux,
    reconcile_command,
)
from stockman.assessment.drift.report import (
    Author,
    Correction,
    Drift,
    DriftSeverity,
    DriftValue,
    Layer,
)
from stockman.kubernetes.objects import Object
from stockman.model.record import record
from stockman.model.secret import Secret
from stockman.steps.kubernetes.objects import FLUX, KUSTOMIZATIONS, mapping_at, object_name, text_at

_SUBSTITUTED = "${"
"""Flux puts values of Secrets in place of it, so what comes out is not known here."""
_LONGEST = 80


@record
class FieldDifference:
    """One field with both of its values."""

    path: tuple[str, ...]
    found: object
    """None: it is not there."""
    wanted: object

    @property
    def key(self) -> str:
        return ".".join(self.path)


def differing_fields(
    wanted: object, found: object, path: tuple[str, ...] = ()
) -> Iterator[FieldDifference]:
    """Fields that are rendered and are otherwise in the cluster; what others add does not count."""
    if isinstance(wanted, Mapping) and isinstance(found, Mapping):
        for name, value in wanted.items():
            yield from differing_fields(value, found.get(name), (*path, str(name)))
    elif not _is_same(wanted, found):
        yield FieldDifference(path=path, found=found, wanted=wanted)


def _is_same(wanted: object, found: object) -> bool:
    if isinstance(wanted, Secret):
        return True
    if isinstance(wanted, str):
        return _SUBSTITUTED in wanted or wanted == found
    if isinstance(wanted, Mapping):
        if not isinstance(found, Mapping):
            return not wanted and found is None
        return all(_is_same(value, found.get(name)) for name, value in wanted.items())
    if isinstance(wanted, Sequence):
        if not isinstance(found, Sequence) or isinstance(found, str):
            return not wanted and found is None
        return len(wanted) == len(found) and all(map(_is_same, wanted, found))
    return wanted == found


def format_value(value: object) -> str | None:
    """A value in a line. None: there is none."""
    if value is None:
        return None
    told = value if isinstance(value, str) else json.dumps(value, default=_plain)
    line = " ".join(told.split())
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}..."


def _plain(value: object) -> object:
    return dict(value) if isinstance(value, Mapping) else str(value)


_COMPARED = frozenset((one.api_version, one.name) for one in FLUX)
_PATCHED = frozenset(
    {"install", "upgrade", "rollback", "decryption", "deletionPolicy", "patches", "suspend"}
)
"""Keys that the Kustomization above puts into all objects of a kind, or that are judged apart."""
_SHORT = 12


@record
class FluxObject:
    """An object of the pushed commit, and which Kustomization applies it."""

    content: Object = field(metadata={"shown": False})
    namespace: str
    owner: str
    """`namespace/name` of the Kustomization."""
    file: str

    @property
    def kind(self) -> tuple[str, str]:
        return text_at(self.content, "apiVersion"), text_at(self.content, "kind")

    @property
    def key(self) -> tuple[str, str, str]:
        return self.kind[1], self.namespace, object_name(self.content)

    @property
    def subject(self) -> str:
        return f"{self.key[0]} {self.namespace}/{self.key[2]}"


@record
class FluxSide:
    """The pushed commit, and the objects of Flux in the cluster."""

    commit: str
    wanted: tuple[FluxObject, ...] = field(metadata={"shown": False})
    there: Mapping[tuple[str, str, str], Object] = field(metadata={"shown": False})
    """By kind, namespace and name."""


def is_compared(content: Object) -> bool:
    """Whether an object is one that Flux works with."""
    return (text_at(content, "apiVersion"), text_at(content, "kind")) in _COMPARED


def flux_drifts(side: FluxSide) -> Iterator[Drift]:
    """Commits that were not applied yet, and objects that are not as their commit has them."""
    elsewhere = dict(_stale_kustomizations(side))
    late = {name: told for name, told in elsewhere.items() if name not in _suspended_objects(side)}
    if late:
        yield _behind(side, late)
    for one in side.wanted:
        if one.owner in elsewhere:
            continue
        found = side.there.get(one.key)
        if found is None:
            yield _missing_object(one)
        else:
            yield from _changed_object(one, found)


def _stale_kustomizations(side: FluxSide) -> Iterator[tuple[str, str]]:
    """Kustomizations that have not applied the commit, and what they applied last."""
    for (kind, namespace, name), found in side.there.items():
        if kind == KUSTOMIZATIONS.name and _follows_repository(found):
            revision = text_at(found, "status", "lastAppliedRevision")
            if not revision.endswith(side.commit):
                yield f"{namespace}/{name}", revision


def _follows_repository(found: Object) -> bool:
    source = mapping_at(found, "spec", "sourceRef")
    return (text_at(source, "kind"), text_at(source, "name")) == ("GitRepository", "flux-system")


def _suspended_objects(side: FluxSide) -> set[str]:
    return {
        f"{namespace}/{name}"
        for (kind, namespace, name), found in side.there.items()
        if kind == KUSTOMIZATIONS.name and mapping_at(found, "spec").get("suspend") is True
    }


def _behind(side: FluxSide, late: Mapping[str, str]) -> Drift:
    wanted = side.commit[:_SHORT]
    values = tuple(
        DriftValue(key=name, found=_short(revision), wanted=wanted)
        for name, revision in sorted(late.items())
    )
    return Drift(
        layer=Layer.TREE,
        subject="flux",
        what=f"Flux has not applied commit {wanted}",
        why=f"{len(late)} Kustomizations are at another one: it waits for its turn, or fails",
        values=values,
        author=Author(how="Flux itself is late"),
        severity=DriftSeverity.NOTICE,
        correction=Correction(command="stockman apply --reconcile"),
    )


def _short(revision: str) -> str | None:
    return revision.rpartition(":")[2][:_SHORT] or None


def _changed_object(one: FluxObject, found: Object) -> Iterator[Drift]:
    differing = [
        each
        for each in (*_fields(one.content, found), *_is_suspended(one.content, found))
        if not is_field_managed_by_flux(found, each.path)
    ]
    if not differing:
        return
    namespace, _, name = one.owner.partition("/")
    yield Drift(
        layer=Layer.TREE,
        subject=one.subject,
        what=f"{one.subject} in the cluster is not as {one.file} has it",
        values=tuple(
            DriftValue(
                key=each.key, found=format_value(each.found), wanted=format_value(each.wanted)
            )
            for each in differing
        ),
        author=field_author(found, (each.path for each in differing)),
        correction=Correction(command=_reconcile_correction(one, differing, namespace, name)),
    )


def _fields(wanted: Object, found: Object) -> Iterator[FieldDifference]:
    for name, value in mapping_at(wanted, "spec").items():
        if name not in _PATCHED:
            yield from differing_fields(value, mapping_at(found, "spec").get(name), ("spec", name))
    for place in ("labels", "annotations"):
        yield from differing_fields(
            mapping_at(wanted, "metadata", place),
            mapping_at(found, "metadata", place),
            ("metadata", place),
        )


def _is_suspended(wanted: Object, found: Object) -> Iterator[FieldDifference]:
    is_off = mapping_at(found, "spec").get("suspend") is True
    if is_off and mapping_at(wanted, "spec").get("suspend") is not True:
        yield FieldDifference(path=("spec", "suspend"), found=True, wanted=False)


def _reconcile_correction(
    one: FluxObject, differing: Iterable[FieldDifference], namespace: str, name: str
) -> str:
    """Flux leaves a field alone that it does not name, so `suspend` is switched by hand."""
    if any(each.path == ("spec", "suspend") for each in differing):
        kind = f"{one.key[0].lower()}s.{one.kind[0].partition('/')[0]}"
        patch = '{"spec":{"suspend":false}}'
        return f"kubectl -n {one.namespace} patch {kind} {one.key[2]} --type merge -p '{patch}'"
    return reconcile_command("kustomization", namespace, name)


def _missing_object(one: FluxObject) -> Drift:
    namespace, _, name = one.owner.partition("/")
    return Drift(
        layer=Layer.TREE,
        subject=one.subject,
        what=f"{one.subject} of {one.file} is not in the cluster",
        author=Author(how="nobody tells who deleted an object"),
        severity=DriftSeverity.CRITICAL,
        correction=Correction(command=reconcile_command("kustomization", namespace, name)),
    )
