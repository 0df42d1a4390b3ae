"""Status of the Kubernetes API, nodes and components."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from stockman.assessment.status import problems as say
from stockman.assessment.status.findings import (
    Health,
    StatusCheck,
    StatusFinding,
    StatusItem,
    StatusPart,
    as_warning,
    build_part,
    part_off,
    unknown_finding,
)
from stockman.assessment.status.node_links import assess_controllers, node_condition
from stockman.assessment.status.nodes import NodeChain, findings_of
from stockman.assessment.status.observed import StatusInput
from stockman.planning.kubernetes.desired import FOLLOWED
from stockman.planning.observed.kubernetes import ObservedKubernetes, ObservedObject


def assess_kubernetes(state: StatusInput, chains: tuple[NodeChain, ...]) -> StatusPart:
    """Assess the API and all nodes."""
    cluster = state.desired.cluster
    if cluster is None:
        return part_off(StatusCheck.KUBERNETES, "no cluster is configured")
    kubernetes = state.kubernetes
    if kubernetes is None:
        return build_part(StatusCheck.KUBERNETES, "the API does not answer", [api_silent(state)])
    if kubernetes.nodes is None:
        why = kubernetes.unknown.get("nodes", "not told")
        finding = unknown_finding(
            "the nodes of Kubernetes", why, "look again with `stockman status`"
        )
        return build_part(
            StatusCheck.KUBERNETES, f"{kubernetes.version}, nodes not known", [finding]
        )
    ready = sum(chain.node.kubelet.ready is True for chain in chains)
    versions = Counter(chain.node.kubelet.version for chain in chains if chain.node.kubelet.version)
    version_text = ", ".join(name for name, _ in versions.most_common())
    foreign = [node for node in kubernetes.nodes if node.name not in _node_names(state)]
    more = f", {len(foreign)} nodes of others" if foreign else ""
    text = f"{ready} of {len(chains)} nodes ready, API {kubernetes.version}"
    text += f", kubelets {version_text}{more}" if version_text else more
    least = Health.OK if ready == len(chains) and chains else Health.ERROR
    findings = [
        *findings_of(chains, StatusCheck.KUBERNETES),
        *_foreign_nodes(state),
        *assess_controllers(state),
    ]
    return build_part(StatusCheck.KUBERNETES, text, findings, least=least)


def api_silent(state: StatusInput) -> StatusFinding:
    """Return a finding for an API that does not answer or was not queried."""
    observed, cluster = state.observed.kubernetes, state.desired.cluster
    if observed is None or cluster is None:
        fix = "look again with `stockman status`"
        return unknown_finding("Kubernetes", "nobody asked its API", fix)
    why = observed.unknown.get("version", "it does not tell its version")
    problem = say.api_silent(str(cluster.kubernetes.api_addr), why)
    return StatusFinding(subject="Kubernetes API", problem=problem)


def _node_names(state: StatusInput) -> frozenset[str]:
    return frozenset(str(node.name) for node in state.desired.nodes)


def _foreign_nodes(state: StatusInput) -> Iterator[StatusFinding]:
    """Report nodes created by others, such as Karpenter; the cluster stays healthy."""
    desired = _node_names(state)
    for name, node in state.nodes.items():
        if name not in desired:
            for finding in node_condition(node, state):
                yield StatusFinding(subject=finding.subject, problem=as_warning(finding.problem))


def assess_components(state: StatusInput) -> StatusPart:
    """Assess every enabled component by its readiness conditions in the catalog."""
    if state.desired.cluster is None or state.desired_kubernetes is None:
        return part_off(StatusCheck.COMPONENTS, "no cluster is configured")
    names = [
        condition for condition in state.desired_kubernetes.conditions if condition != FOLLOWED
    ]
    kubernetes = state.kubernetes
    if kubernetes is None:
        text = "not known: the API does not answer"
        items = [
            StatusItem(name=name, health=Health.UNKNOWN, summary="not known") for name in names
        ]
        return build_part(StatusCheck.COMPONENTS, text, [api_silent(state)], items, Health.UNKNOWN)
    items = [_component_item(kubernetes, name) for name in names]
    good = sum(item.health is Health.OK for item in items)
    findings = [finding for name in names for finding in _component_findings(kubernetes, name)]
    return build_part(StatusCheck.COMPONENTS, f"{good} of {len(names)} work", findings, items)


def _component_item(kubernetes: ObservedKubernetes, name: str) -> StatusItem:
    conditions = kubernetes.working.get(name)
    if conditions is None:
        return StatusItem(name=name, health=Health.UNKNOWN, summary="not known")
    missing = [condition for condition in conditions if not condition.holds]
    description = "; ".join(
        f"{condition.condition.says} ({condition.seen})" for condition in missing
    )
    return StatusItem(
        name=name,
        health=Health.ERROR if missing else Health.OK,
        summary=f"not yet: {description}" if missing else "works",
    )


def _component_findings(kubernetes: ObservedKubernetes, name: str) -> Iterator[StatusFinding]:
    conditions = kubernetes.working.get(name)
    if conditions is None:
        why = "what it consists of could not be read"
        yield unknown_finding(f"component {name}", why, "look again with `stockman status`")
        return
    for condition in conditions:
        if not condition.holds:
            problem = say.component_not_ready(name, condition.condition.says, condition.seen)
            yield StatusFinding(subject=name, problem=problem)
            return


_SOURCE = ("GitRepository", "flux-system", "flux-system")
_WITHOUT_STATUS = frozenset({"HelmRepository"})
"""Kinds some of whose objects never report a status."""
_FOLLOWS = "dependency '"
"""Start of the message of an object that waits for another one, which is reported itself."""


def assess_flux(state: StatusInput) -> StatusPart:
    """Assess every Flux object and the repository."""
    if state.desired.cluster is None:
        return part_off(StatusCheck.FLUX, "no cluster is configured")
    kubernetes = state.kubernetes
    if kubernetes is None:
        return build_part(
            StatusCheck.FLUX,
            "not known: the API does not answer",
            [api_silent(state)],
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
    ready = sum(_is_ready(flux_object) is True for flux_object in objects)
    kinds = Counter(
        flux_object.kind for flux_object in objects if _is_ready(flux_object) is not True
    )
    not_ready = "".join(f", {count} {kind} not" for kind, count in kinds.items())
    findings = [
        *(finding for flux_object in objects for finding in _object(flux_object)),
        *_revision_findings(state),
        *_repository(state),
    ]
    items = [_item(flux_object) for flux_object in objects]
    text = f"{ready} of {len(objects)} ready{not_ready}{_revision(state)}"
    return build_part(StatusCheck.FLUX, text, findings, items)


def _name(flux_object: ObservedObject) -> str:
    return (
        f"{flux_object.namespace}/{flux_object.name}" if flux_object.namespace else flux_object.name
    )


def _is_ready(flux_object: ObservedObject) -> bool:
    return flux_object.ready is True or (
        flux_object.ready is None and flux_object.kind in _WITHOUT_STATUS
    )


def _object(flux_object: ObservedObject) -> Iterator[StatusFinding]:
    subject = f"{flux_object.kind} {_name(flux_object)}"
    if flux_object.suspended:
        yield StatusFinding(
            subject=subject,
            problem=as_warning(say.flux_suspension(flux_object.kind, _name(flux_object))),
        )
    if _is_ready(flux_object):
        return
    problem = say.flux_not_ready(flux_object.kind, _name(flux_object), flux_object.seen)
    if flux_object.seen.startswith(_FOLLOWS):
        problem = as_warning(problem)
    yield StatusFinding(subject=subject, problem=problem)


def _item(flux_object: ObservedObject) -> StatusItem:
    health = Health.OK if _is_ready(flux_object) else Health.ERROR
    text = "suspended" if flux_object.suspended else flux_object.revision or flux_object.seen
    return StatusItem(name=f"{flux_object.kind} {_name(flux_object)}", health=health, summary=text)


def _revision_findings(state: StatusInput) -> Iterator[StatusFinding]:
    kubernetes = state.kubernetes
    if kubernetes is None or state.desired_kubernetes is None:
        return
    existing = {(row.kind, row.name) for row in kubernetes.flux or ()}
    for row in kubernetes.working.get(FOLLOWED, ()):
        exists = (row.condition.kind, row.condition.name) in existing
        if not row.holds and not exists:
            problem = say.component_not_ready("Flux", row.condition.says, row.seen)
            yield StatusFinding(subject=row.condition.name or row.condition.kind, problem=problem)


def _source(state: StatusInput) -> ObservedObject | None:
    return state.kubernetes.of_flux(*_SOURCE) if state.kubernetes is not None else None


def _revision(state: StatusInput) -> str:
    source = _source(state)
    return f", at {_short(source.revision)}" if source is not None and source.revision else ""


def _short(revision: str) -> str:
    branch, _, commit = revision.partition("@sha1:")
    return f"{branch}@{commit[:12]}" if commit else revision


def _repository(state: StatusInput) -> Iterator[StatusFinding]:
    cluster, repository, source = state.desired.cluster, state.repository, _source(state)
    if cluster is None or repository is None or source is None:
        return
    branch = cluster.repository.branch
    if repository.uncommitted:
        problem = as_warning(say.files_to_commit(repository.uncommitted))
        yield StatusFinding(subject="work tree", problem=problem)
    if repository.why or repository.branch != branch:
        problem_text = f"the branch {repository.branch or 'none'} is checked out, and not {branch}"
        fix = "look at it with `git fetch` and `git status`"
        yield unknown_finding(
            "the pushed commit", repository.why or problem_text, fix, is_error=False
        )
        return
    if repository.local and repository.local != repository.pushed:
        problem = as_warning(say.commit_to_push(repository.local, repository.pushed))
        yield StatusFinding(subject="work tree", problem=problem)
    if repository.pushed and not source.revision.endswith(repository.pushed):
        problem = say.flux_behind(_short(source.revision), repository.pushed, branch)
        yield StatusFinding(subject="repository", problem=problem)
