"""What Flux made of the pushed commit: its objects in the cluster against those in the files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field

from stockman.app.drift.field_authors import field_author, is_of_controllers
from stockman.app.drift.fields import FieldDifference, differing_fields, shown_value
from stockman.app.drift.finding import Author, Correction, Drift, DriftSeverity, Value
from stockman.app.drift.layer import Layer
from stockman.app.drift.objects import reconcile_command
from stockman.model.record import record
from stockman.ports.kubernetes.objects import Object
from stockman.steps.kube_kinds import FLUX, KUSTOMIZATIONS
from stockman.steps.kube_reading import name_of, part, text

_COMPARED = frozenset((one.api_version, one.name) for one in FLUX)
_PATCHED = frozenset(
    {"install", "upgrade", "rollback", "decryption", "deletionPolicy", "patches", "suspend"}
)
"""Keys that the Kustomization above puts into all objects of a kind, or that are judged apart."""
_SHORT = 12


@record
class FollowedObject:
    """An object of the pushed commit, and which Kustomization applies it."""

    content: Object = field(metadata={"shown": False})
    namespace: str
    owner: str
    """`namespace/name` of the Kustomization."""
    file: str

    @property
    def kind(self) -> tuple[str, str]:
        return text(self.content, "apiVersion"), text(self.content, "kind")

    @property
    def key(self) -> tuple[str, str, str]:
        return self.kind[1], self.namespace, name_of(self.content)

    @property
    def subject(self) -> str:
        return f"{self.key[0]} {self.namespace}/{self.key[2]}"


@record
class FollowedSide:
    """The pushed commit, and the objects of Flux in the cluster."""

    commit: str
    wanted: tuple[FollowedObject, ...] = field(metadata={"shown": False})
    there: Mapping[tuple[str, str, str], Object] = field(metadata={"shown": False})
    """By kind, namespace and name."""


def is_compared(content: Object) -> bool:
    """Whether an object is one that Flux works with."""
    return (text(content, "apiVersion"), text(content, "kind")) in _COMPARED


def followed_drifts(side: FollowedSide) -> Iterator[Drift]:
    """Commits that were not applied yet, and objects that are not as their commit has them."""
    elsewhere = dict(_elsewhere(side))
    late = {name: told for name, told in elsewhere.items() if name not in _suspended(side)}
    if late:
        yield _behind(side, late)
    for one in side.wanted:
        if one.owner in elsewhere:
            continue
        found = side.there.get(one.key)
        if found is None:
            yield _missing(one)
        else:
            yield from _changed(one, found)


def _elsewhere(side: FollowedSide) -> Iterator[tuple[str, str]]:
    """Kustomizations that have not applied the commit, and what they applied last."""
    for (kind, namespace, name), found in side.there.items():
        if kind == KUSTOMIZATIONS.name and _follows_repository(found):
            revision = text(found, "status", "lastAppliedRevision")
            if not revision.endswith(side.commit):
                yield f"{namespace}/{name}", revision


def _follows_repository(found: Object) -> bool:
    source = part(found, "spec", "sourceRef")
    return (text(source, "kind"), text(source, "name")) == ("GitRepository", "flux-system")


def _suspended(side: FollowedSide) -> set[str]:
    return {
        f"{namespace}/{name}"
        for (kind, namespace, name), found in side.there.items()
        if kind == KUSTOMIZATIONS.name and part(found, "spec").get("suspend") is True
    }


def _behind(side: FollowedSide, late: Mapping[str, str]) -> Drift:
    wanted = side.commit[:_SHORT]
    values = tuple(
        Value(key=name, found=_short(revision), wanted=wanted)
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


def _changed(one: FollowedObject, found: Object) -> Iterator[Drift]:
    differing = [
        each
        for each in (*_fields(one.content, found), *_switched_off(one.content, found))
        if not is_of_controllers(found, each.path)
    ]
    if not differing:
        return
    namespace, _, name = one.owner.partition("/")
    yield Drift(
        layer=Layer.TREE,
        subject=one.subject,
        what=f"{one.subject} in the cluster is not as {one.file} has it",
        values=tuple(
            Value(key=each.key, found=shown_value(each.found), wanted=shown_value(each.wanted))
            for each in differing
        ),
        author=field_author(found, (each.path for each in differing)),
        correction=Correction(command=_put_back(one, differing, namespace, name)),
    )


def _fields(wanted: Object, found: Object) -> Iterator[FieldDifference]:
    for name, value in part(wanted, "spec").items():
        if name not in _PATCHED:
            yield from differing_fields(value, part(found, "spec").get(name), ("spec", name))
    for place in ("labels", "annotations"):
        yield from differing_fields(
            part(wanted, "metadata", place), part(found, "metadata", place), ("metadata", place)
        )


def _switched_off(wanted: Object, found: Object) -> Iterator[FieldDifference]:
    is_off = part(found, "spec").get("suspend") is True
    if is_off and part(wanted, "spec").get("suspend") is not True:
        yield FieldDifference(path=("spec", "suspend"), found=True, wanted=False)


def _put_back(
    one: FollowedObject, differing: Iterable[FieldDifference], namespace: str, name: str
) -> str:
    """Flux leaves a field alone that it does not name, so `suspend` is switched by hand."""
    if any(each.path == ("spec", "suspend") for each in differing):
        kind = f"{one.key[0].lower()}s.{one.kind[0].partition('/')[0]}"
        patch = '{"spec":{"suspend":false}}'
        return f"kubectl -n {one.namespace} patch {kind} {one.key[2]} --type merge -p '{patch}'"
    return reconcile_command("kustomization", namespace, name)


def _missing(one: FollowedObject) -> Drift:
    namespace, _, name = one.owner.partition("/")
    return Drift(
        layer=Layer.TREE,
        subject=one.subject,
        what=f"{one.subject} of {one.file} is not in the cluster",
        author=Author(how="nobody tells who deleted an object"),
        severity=DriftSeverity.CRITICAL,
        correction=Correction(command=reconcile_command("kustomization", namespace, name)),
    )
