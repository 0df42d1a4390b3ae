"""Flux: whether what it works with is ready, and whether it has what was pushed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from stockman.assessment.status import cluster_problems as say
from stockman.assessment.status.findings import (
    Health,
    StatusCheck,
    StatusFinding,
    StatusItem,
    StatusPart,
    as_warning,
    build_part,
    disabled_part,
    unknown_finding,
)
from stockman.assessment.status.kubernetes import api_silent
from stockman.assessment.status.observed import StatusInput
from stockman.planning.kubernetes.desired import FOLLOWED
from stockman.planning.observed.kubernetes import ObservedObject

_SOURCE = ("GitRepository", "flux-system", "flux-system")
_WITHOUT_STATUS = frozenset({"HelmRepository"})
"""Kinds of which some say nothing of themselves, for ever."""
_FOLLOWS = "dependency '"
"""How Flux says that something waits for something else, which is told by itself."""


def assess_flux(seen: StatusInput) -> StatusPart:
    """Everything of Flux, and the repository."""
    if seen.desired.cluster is None:
        return disabled_part(StatusCheck.FLUX, "no cluster is configured")
    kubernetes = seen.kubernetes
    if kubernetes is None:
        return build_part(
            StatusCheck.FLUX,
            "not known: the API does not answer",
            [api_silent(seen)],
            (),
            Health.UNKNOWN,
        )
    if kubernetes.flux is None:
        why = kubernetes.unknown.get("flux", "not told")
        finding = unknown_finding("Flux", why, "look again with `stockman status`")
        return build_part(StatusCheck.FLUX, "not known", [finding])
    if not kubernetes.flux:
        finding = StatusFinding(subject="Flux", problem=say.flux_missing())
        return build_part(StatusCheck.FLUX, "not there", [finding])
    objects = kubernetes.flux
    ready = sum(_is_ready(one) is True for one in objects)
    kinds = Counter(one.kind for one in objects if _is_ready(one) is not True)
    rest = "".join(f", {count} {kind} not" for kind, count in kinds.items())
    findings = [
        *(finding for one in objects for finding in _object(one)),
        *_followed_revision(seen),
        *_repository(seen),
    ]
    items = [_item(one) for one in objects]
    text = f"{ready} of {len(objects)} ready{rest}{_revision(seen)}"
    return build_part(StatusCheck.FLUX, text, findings, items)


def _name(one: ObservedObject) -> str:
    return f"{one.namespace}/{one.name}" if one.namespace else one.name


def _is_ready(one: ObservedObject) -> bool:
    return one.ready is True or (one.ready is None and one.kind in _WITHOUT_STATUS)


def _object(one: ObservedObject) -> Iterator[StatusFinding]:
    subject = f"{one.kind} {_name(one)}"
    if one.suspended:
        yield StatusFinding(
            subject=subject, problem=as_warning(say.flux_suspended(one.kind, _name(one)))
        )
    if _is_ready(one):
        return
    problem = say.flux_not_ready(one.kind, _name(one), one.seen)
    if one.seen.startswith(_FOLLOWS):
        problem = as_warning(problem)
    yield StatusFinding(subject=subject, problem=problem)


def _item(one: ObservedObject) -> StatusItem:
    health = Health.OK if _is_ready(one) else Health.ERROR
    text = "suspended" if one.suspended else one.revision or one.seen
    return StatusItem(name=f"{one.kind} {_name(one)}", health=health, seen=text)


def _followed_revision(seen: StatusInput) -> Iterator[StatusFinding]:
    kubernetes = seen.kubernetes
    if kubernetes is None or seen.wish is None:
        return
    there = {(one.kind, one.name) for one in kubernetes.flux or ()}
    for one in kubernetes.working.get(FOLLOWED, ()):
        told = (one.condition.kind, one.condition.name) in there
        if not one.holds and not told:
            problem = say.component_not_ready("Flux", one.condition.says, one.seen)
            yield StatusFinding(subject=one.condition.name or one.condition.kind, problem=problem)


def _source(seen: StatusInput) -> ObservedObject | None:
    return seen.kubernetes.of_flux(*_SOURCE) if seen.kubernetes is not None else None


def _revision(seen: StatusInput) -> str:
    source = _source(seen)
    return f", at {_short(source.revision)}" if source is not None and source.revision else ""


def _short(revision: str) -> str:
    branch, _, commit = revision.partition("@sha1:")
    return f"{branch}@{commit[:12]}" if commit else revision


def _repository(seen: StatusInput) -> Iterator[StatusFinding]:
    cluster, repository, source = seen.desired.cluster, seen.repository, _source(seen)
    if cluster is None or repository is None or source is None:
        return
    branch = cluster.repository.branch
    if repository.why or repository.branch != branch:
        other = f"the branch {repository.branch or 'none'} is checked out, and not {branch}"
        fix = "look at it with `git fetch` and `git status`"
        yield unknown_finding("the pushed commit", repository.why or other, fix, is_error=False)
        return
    if repository.local and repository.local != repository.pushed:
        problem = as_warning(say.not_pushed(repository.local, repository.pushed))
        yield StatusFinding(subject="work tree", problem=problem)
    if repository.pushed and not source.revision.endswith(repository.pushed):
        problem = say.flux_behind(_short(source.revision), repository.pushed, branch)
        yield StatusFinding(subject="repository", problem=problem)
