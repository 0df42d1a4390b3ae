"""Drift of the objects that Flux applies from the pushed commit."""

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
"""Marks a value that Flux substitutes from a Secret, so the result is unknown here."""
_LONGEST = 80


@record
class FieldDifference:
    """One field with both of its values."""

    path: tuple[str, ...]
    observed: object
    """None: the field is missing."""
    desired: object

    @property
    def key(self) -> str:
        return ".".join(self.path)


def differing_fields(
    desired: object, observed: object, path: tuple[str, ...] = ()
) -> Iterator[FieldDifference]:
    """Return rendered fields whose value in the cluster differs; ignore fields added by others."""
    if isinstance(desired, Mapping) and isinstance(observed, Mapping):
        for name, value in desired.items():
            yield from differing_fields(value, observed.get(name), (*path, str(name)))
    elif not _is_same(desired, observed):
        yield FieldDifference(path=path, observed=observed, desired=desired)


def _is_same(desired: object, observed: object) -> bool:
    if isinstance(desired, Secret):
        return True
    if isinstance(desired, str):
        return _SUBSTITUTED in desired or desired == observed
    if isinstance(desired, Mapping):
        if not isinstance(observed, Mapping):
            return not desired and observed is None
        return all(_is_same(value, observed.get(name)) for name, value in desired.items())
    if isinstance(desired, Sequence):
        if not isinstance(observed, Sequence) or isinstance(observed, str):
            return not desired and observed is None
        return len(desired) == len(observed) and all(map(_is_same, desired, observed))
    return desired == observed


def format_value(value: object) -> str | None:
    """Format a value on one line. None: there is no value."""
    if value is None:
        return None
    text = value if isinstance(value, str) else json.dumps(value, default=_plain)
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}..."


def _plain(value: object) -> object:
    return dict(value) if isinstance(value, Mapping) else str(value)


_COMPARED = frozenset((kind.api_version, kind.name) for kind in FLUX)
_PATCHED = frozenset(
    {"install", "upgrade", "rollback", "decryption", "deletionPolicy", "patches", "suspend"}
)
"""Keys that the parent Kustomization patches into all objects of a kind, or that are compared
separately."""
_SHORT = 12


@record
class FluxObject:
    """An object of the pushed commit, and the Kustomization that applies it."""

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
    """The pushed commit, and the Flux objects in the cluster."""

    commit: str
    desired: tuple[FluxObject, ...] = field(metadata={"shown": False})
    existing: Mapping[tuple[str, str, str], Object] = field(metadata={"shown": False})
    """Objects by kind, namespace and name."""


def is_compared(content: Object) -> bool:
    """Whether an object is of a kind that Flux itself uses."""
    return (text_at(content, "apiVersion"), text_at(content, "kind")) in _COMPARED


def flux_drifts(side: FluxSide) -> Iterator[Drift]:
    """Return commits that are not applied yet, and objects that differ from the pushed commit."""
    elsewhere = dict(_stale_kustomizations(side))
    late = {
        name: revision for name, revision in elsewhere.items() if name not in _find_suspended(side)
    }
    if late:
        yield _behind(side, late)
    for flux_object in side.desired:
        if flux_object.owner in elsewhere:
            continue
        observed = side.existing.get(flux_object.key)
        if observed is None:
            yield _missing_object(flux_object)
        else:
            yield from _object_drift(flux_object, observed)


def _stale_kustomizations(side: FluxSide) -> Iterator[tuple[str, str]]:
    """Return Kustomizations that have not applied the commit, and their last applied revision."""
    for (kind, namespace, name), kustomization in side.existing.items():
        if kind == KUSTOMIZATIONS.name and _follows_repository(kustomization):
            revision = text_at(kustomization, "status", "lastAppliedRevision")
            if not revision.endswith(side.commit):
                yield f"{namespace}/{name}", revision


def _follows_repository(kustomization: Object) -> bool:
    source = mapping_at(kustomization, "spec", "sourceRef")
    return (text_at(source, "kind"), text_at(source, "name")) == ("GitRepository", "flux-system")


def _find_suspended(side: FluxSide) -> set[str]:
    return {
        f"{namespace}/{name}"
        for (kind, namespace, name), flux_object in side.existing.items()
        if kind == KUSTOMIZATIONS.name and mapping_at(flux_object, "spec").get("suspend") is True
    }


def _behind(side: FluxSide, late: Mapping[str, str]) -> Drift:
    commit = side.commit[:_SHORT]
    values = tuple(
        DriftValue(key=name, observed=_short(revision), desired=commit)
        for name, revision in sorted(late.items())
    )
    return Drift(
        layer=Layer.TREE,
        subject="flux",
        description=f"Flux has not applied commit {commit}",
        why=f"{len(late)} Kustomizations are at another one: it waits for its turn, or fails",
        values=values,
        author=Author(how="Flux itself is late"),
        severity=DriftSeverity.NOTICE,
        correction=Correction(command="stockman apply --reconcile"),
    )


def _short(revision: str) -> str | None:
    return revision.rpartition(":")[2][:_SHORT] or None


def _object_drift(flux_object: FluxObject, observed: Object) -> Iterator[Drift]:
    differing = [
        each
        for each in (
            *_fields(flux_object.content, observed),
            *_is_suspended(flux_object.content, observed),
        )
        if not is_field_managed_by_flux(observed, each.path)
    ]
    if not differing:
        return
    namespace, _, name = flux_object.owner.partition("/")
    yield Drift(
        layer=Layer.TREE,
        subject=flux_object.subject,
        description=f"{flux_object.subject} in the cluster is not as {flux_object.file} has it",
        values=tuple(
            DriftValue(
                key=each.key,
                observed=format_value(each.observed),
                desired=format_value(each.desired),
            )
            for each in differing
        ),
        author=field_author(observed, (each.path for each in differing)),
        correction=Correction(
            command=_reconcile_correction(flux_object, differing, namespace, name)
        ),
    )


def _fields(desired: Object, observed: Object) -> Iterator[FieldDifference]:
    for name, value in mapping_at(desired, "spec").items():
        if name not in _PATCHED:
            yield from differing_fields(
                value, mapping_at(observed, "spec").get(name), ("spec", name)
            )
    for section in ("labels", "annotations"):
        yield from differing_fields(
            mapping_at(desired, "metadata", section),
            mapping_at(observed, "metadata", section),
            ("metadata", section),
        )


def _is_suspended(desired: Object, observed: Object) -> Iterator[FieldDifference]:
    is_off = mapping_at(observed, "spec").get("suspend") is True
    if is_off and mapping_at(desired, "spec").get("suspend") is not True:
        yield FieldDifference(path=("spec", "suspend"), observed=True, desired=False)


def _reconcile_correction(
    flux_object: FluxObject, differing: Iterable[FieldDifference], namespace: str, name: str
) -> str:
    """Return the command that restores an object. Flux ignores fields it does not set, so `suspend`
    must be patched."""
    if any(each.path == ("spec", "suspend") for each in differing):
        kind = f"{flux_object.key[0].lower()}s.{flux_object.kind[0].partition('/')[0]}"
        patch = '{"spec":{"suspend":false}}'
        target = f"-n {flux_object.namespace} patch {kind} {flux_object.key[2]}"
        return f"kubectl {target} --type merge -p '{patch}'"
    return reconcile_command("kustomization", namespace, name)


def _missing_object(flux_object: FluxObject) -> Drift:
    namespace, _, name = flux_object.owner.partition("/")
    return Drift(
        layer=Layer.TREE,
        subject=flux_object.subject,
        description=f"{flux_object.subject} of {flux_object.file} is not in the cluster",
        author=Author(how="nobody tells who deleted an object"),
        severity=DriftSeverity.CRITICAL,
        correction=Correction(command=reconcile_command("kustomization", namespace, name)),
    )
