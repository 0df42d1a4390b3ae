"""The Kubernetes stage: from a cluster without a network to one that follows its repository."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from stockman.model.errors import Refused
from stockman.model.record import record
from stockman.planning.change import Change, ChangeKind
from stockman.planning.kubernetes.conflicts import find_secret
from stockman.planning.kubernetes.desired import (
    FOLLOWED,
    DesiredChart,
    DesiredKubernetes,
    DesiredSecret,
)
from stockman.planning.observed.kubernetes import ObservedKubernetes
from stockman.steps.base import Action, Checkpoint, Gate
from stockman.steps.kubernetes import problems
from stockman.steps.kubernetes.chart import InstallChart, install_names
from stockman.steps.kubernetes.flux import NoPendingSecrets, Reconcile
from stockman.steps.kubernetes.objects import GIT_REPOSITORIES, KUSTOMIZATIONS
from stockman.steps.kubernetes.readiness import ComponentReady, ObjectCondition
from stockman.steps.kubernetes.smoke_test import STARTED
from stockman.steps.repository import MANAGED_PATHS, CommitPushed, PushRepository
from stockman.steps.step import Stage, Step

_REQUIRED_PARTS = ("namespaces", "releases", "workloads", "definitions", "flux", "secrets")
_MINUTE = 60.0
FLUX = "flux-system"
_NO_CLUSTER = "there is no cluster yet"


@record
class KubernetesChange(Change):
    """One difference, with the step that makes it true."""

    id: str
    action: Action
    gates: tuple[Gate, ...] = ()
    seconds: float = 5.0
    deadline: float = 10 * _MINUTE

    @property
    def made_by(self) -> tuple[str, ...]:
        return (self.id,)


@record
class StageContext:
    """What the steps of the stage stand between."""

    needs: tuple[str, ...] = ()
    """Steps of other stages that come before."""
    push: bool = False
    """Whether what was rendered is committed and pushed."""


def plan_kubernetes_changes(
    wish: DesiredKubernetes, observed: ObservedKubernetes | None
) -> tuple[KubernetesChange, ...]:
    """Everything that differs, in the order in which it is made true.

    None: there is no cluster yet, so nothing is there. What could not be read is `kube.unknown`.
    """
    if not wish.charts:
        return ()
    if observed is not None:
        _refuse_unknown(observed)
    follows = observed is not None and observed.works(FOLLOWED)
    found = [*_namespaces(wish, observed), *_definitions(wish, observed)]
    for chart in wish.charts:
        if _is_last(chart, wish):
            found += [
                _secret_change(one, why)
                for one in wish.secrets
                if (why := _secret_reason(one, observed))
            ]
        found += _chart_changes(chart, observed, follows=follows)
    is_new = bool(found) or not follows
    if is_new:
        found += _follow_change(wish, observed)
    found += _smoke_test_changes(wish, observed, is_new=is_new)
    return tuple(found)


def _is_last(chart: DesiredChart, wish: DesiredKubernetes) -> bool:
    return chart is wish.charts[-1]


def _refuse_unknown(observed: ObservedKubernetes) -> None:
    for name in _REQUIRED_PARTS:
        if getattr(observed, name) is None:
            raise Refused(
                problems.cluster_unreadable(observed.unknown.get(name, f"{name} were not read"))
            )


def _namespaces(
    wish: DesiredKubernetes, observed: ObservedKubernetes | None
) -> Iterator[KubernetesChange]:
    there = {one.name for one in (observed.namespaces or () if observed is not None else ())}
    for one in wish.namespaces:
        if one.name not in there:
            yield KubernetesChange(
                what=f"namespace {one.name}",
                why="it is not there yet" if observed is not None else _NO_CLUSTER,
                mark=ChangeKind.ADD,
                stage=Stage.KUBERNETES,
                id=f"kubernetes/namespace/{one.name}",
                action=one,
                seconds=1.0,
            )


def _definitions(
    wish: DesiredKubernetes, observed: ObservedKubernetes | None
) -> Iterator[KubernetesChange]:
    seen = observed.definitions or () if observed is not None else ()
    served = {one.name for one in seen if one.ready}
    for bundle in wish.definitions:
        lacking = [name for name in bundle.names if name not in served]
        if lacking:
            yield KubernetesChange(
                what=f"definitions of {bundle.bundle} {bundle.version}",
                why=f"{len(lacking)} of {len(bundle.names)} kinds are not served",
                mark=ChangeKind.ADD,
                stage=Stage.KUBERNETES,
                id=f"kubernetes/definitions/{bundle.bundle}",
                action=bundle,
            )


def _secret_reason(wanted: DesiredSecret, observed: ObservedKubernetes | None) -> str:
    """Why a Secret has to be put in place; empty: it is there as it should be."""
    if observed is None:
        return _NO_CLUSTER
    there = find_secret(observed, wanted.action)
    if there is None:
        return "it is not there"
    if there.owner.value == "flux":
        return ""
    differs = [key for key, value in wanted.digests.items() if there.digests.get(key) != value]
    return f"{', '.join(differs)} differs from the encrypted file" if differs else ""


def _secret_change(wanted: DesiredSecret, why: str) -> KubernetesChange:
    one = wanted.action
    return KubernetesChange(
        what=f"Secret {one.namespace}/{one.name}",
        why=why,
        mark=ChangeKind.ADD if "not there" in why or why == _NO_CLUSTER else ChangeKind.CHANGE,
        stage=Stage.KUBERNETES,
        id=f"kubernetes/secret/{one.namespace}/{one.name}",
        action=one,
        seconds=1.0,
    )


def _chart_changes(
    chart: DesiredChart, observed: ObservedKubernetes | None, *, follows: bool
) -> Iterator[KubernetesChange]:
    why = _install_reason(chart, observed)
    is_left = not why and _has_leftover_installer(chart, observed)
    if is_left:
        why = "what installed it is still there"
    if why:
        yield from _chart_dependencies(chart, observed)
        place = f"{chart.component} {chart.install.version} in {chart.install.namespace}"
        yield KubernetesChange(
            what=f"what installed {place}" if is_left else place,
            why=why,
            mark=ChangeKind.REMOVE if is_left else ChangeKind.ADD,
            stage=Stage.KUBERNETES,
            id=f"kubernetes/install/{chart.component}",
            action=InstallChart(
                install=chart.install,
                trial=chart.trial.component if chart.trial is not None else "",
                only_ends=is_left,
            ),
            seconds=90.0,
            deadline=chart.install.seconds + 5 * _MINUTE,
        )
    works = observed is not None and observed.works(chart.component)
    if why or not (works or follows):
        seen = observed.working.get(chart.component, ()) if observed is not None else ()
        left = "; ".join(f"{one.condition.says} ({one.seen})" for one in seen if not one.holds)
        yield _wait_change(
            chart.component, chart.conditions, left or "it is installed by this plan"
        )


def _smoke_test_changes(
    wish: DesiredKubernetes, observed: ObservedKubernetes | None, *, is_new: bool
) -> Iterator[KubernetesChange]:
    """What was installed is tried once everything is there: trials need names, too."""
    tried = (observed.trials or {}) if observed is not None else {}
    for one in (chart.trial for chart in wish.charts if chart.trial is not None):
        if tried.get(one.component, STARTED) == STARTED and (is_new or tried):
            yield KubernetesChange(
                what=f"{one.component} is tried: {one.says}",
                why="it was not tried yet",
                mark=ChangeKind.ADD,
                stage=Stage.KUBERNETES,
                id=f"kubernetes/try/{one.component}",
                action=one,
                seconds=20.0,
                deadline=one.seconds + 5 * _MINUTE,
            )


def _install_reason(chart: DesiredChart, observed: ObservedKubernetes | None) -> str:
    """Why a chart has to be installed; empty: it is, or Flux sees to it."""
    if observed is None:
        return _NO_CLUSTER
    install = chart.install
    if observed.of_flux("HelmRelease", install.namespace, install.release) is not None:
        return ""
    there = observed.release(install.namespace, install.release)
    if there is None:
        return "there is no such release"
    if there.status != "deployed":
        return f"its release is {there.status}"
    return ""


def _has_leftover_installer(chart: DesiredChart, observed: ObservedKubernetes | None) -> bool:
    """Whether somebody was killed before everything was removed that an install needs."""
    name = install_names(chart.install).binding.name
    seen = observed.installers or () if observed is not None else ()
    return any(one.name == name for one in seen)


def _chart_dependencies(
    chart: DesiredChart, observed: ObservedKubernetes | None
) -> Iterator[KubernetesChange]:
    """What a chart reads and does not bring."""
    for secret in chart.secrets:
        if why := _secret_reason(secret, observed):
            yield _secret_change(secret, why)
    there = {
        (one.namespace, one.name)
        for one in (observed.config_maps or () if observed is not None else ())
    }
    for one in chart.config_maps:
        if (one.namespace, one.name) not in there:
            yield KubernetesChange(
                what=f"ConfigMap {one.namespace}/{one.name}",
                why="it is not there",
                mark=ChangeKind.ADD,
                stage=Stage.KUBERNETES,
                id=f"kubernetes/config-map/{one.namespace}/{one.name}",
                action=one,
                seconds=1.0,
            )


def _wait_change(
    component: str, conditions: Sequence[ObjectCondition], why: str
) -> KubernetesChange:
    return KubernetesChange(
        what=f"{component} works",
        why=why,
        mark=ChangeKind.CHANGE,
        stage=Stage.KUBERNETES,
        id=f"kubernetes/wait/{component}",
        action=Checkpoint(text=f"wait until {component} works"),
        gates=(ComponentReady(component=component, conditions=tuple(conditions)),),
        seconds=30.0,
        deadline=15 * _MINUTE,
    )


def _follow_change(
    wish: DesiredKubernetes, observed: ObservedKubernetes | None
) -> Iterator[KubernetesChange]:
    seen = observed.working.get(FOLLOWED, ()) if observed is not None else ()
    left = "; ".join(f"{one.condition.says} ({one.seen})" for one in seen if not one.holds)
    yield _wait_change(FOLLOWED, wish.followed, left or "Flux has to fetch and apply it")


def kubernetes_steps(
    changed: Sequence[KubernetesChange], wish: DesiredKubernetes, around: StageContext
) -> tuple[Step, ...]:
    """Steps one after the other; the first ones see that the cluster will find what it follows."""
    if not changed:
        return ()
    made: list[Step] = []
    if around.push:
        made.append(_repository_step("kubernetes/push", _push_action(wish)))
    pushed = Checkpoint(text=f"see that branch {wish.branch} is pushed as it was rendered")
    gates: tuple[Gate, ...] = (CommitPushed(branch=wish.branch),)
    if wish.pending:
        gates = (NoPendingSecrets(pending=wish.pending), *gates)
    if all(one.id != "kubernetes/push" for one in changed):
        made.append(_repository_step("kubernetes/pushed", pushed, gates))
    made += [
        Step(
            id=one.id,
            action=one.action,
            stage=Stage.KUBERNETES,
            reason=one.why,
            gates=one.gates,
            deadline=one.deadline,
            seconds=one.seconds,
            lanes=("kubernetes",),
        )
        for one in changed
    ]
    return tuple(_chain_steps(made, around.needs))


def _push_action(wish: DesiredKubernetes) -> PushRepository:
    return PushRepository(branch=wish.branch, places=wish.files or MANAGED_PATHS)


def push_change(wish: DesiredKubernetes, why: str) -> KubernetesChange:
    """The repository alone: the cluster follows it already."""
    return KubernetesChange(
        what=f"branch {wish.branch} is pushed as it is rendered",
        why=why,
        mark=ChangeKind.CHANGE,
        stage=Stage.KUBERNETES,
        id="kubernetes/push",
        action=_push_action(wish),
        seconds=3.0,
    )


def reconcile_changes(
    wish: DesiredKubernetes, observed: ObservedKubernetes, request: str, why: str
) -> Iterator[KubernetesChange]:
    """Flux looks at the repository now, and applies what it finds, instead of in an hour."""
    for kind in (GIT_REPOSITORIES, KUSTOMIZATIONS):
        if observed.of_flux(kind.name, FLUX, FLUX) is None:
            return
        yield KubernetesChange(
            what=f"Flux looks at its {kind.name} now",
            why=why,
            mark=ChangeKind.CHANGE,
            stage=Stage.KUBERNETES,
            id=f"kubernetes/reconcile/{kind.plural}",
            action=Reconcile(of=kind, namespace=FLUX, name=FLUX, request=request),
            seconds=15.0,
        )
    yield _wait_change(FOLLOWED, wish.followed, why)


def _repository_step(name: str, action: Action, gates: tuple[Gate, ...] = ()) -> Step:
    return Step(
        id=name,
        action=action,
        stage=Stage.KUBERNETES,
        reason="Flux installs what the pushed commit holds",
        gates=gates,
    )


def _chain_steps(made: Sequence[Step], needs: tuple[str, ...]) -> Iterator[Step]:
    before = needs
    for step in made:
        yield replace(step, needs=before)
        before = (step.id,)
