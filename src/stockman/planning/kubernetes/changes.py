"""The Kubernetes stage: from a cluster without a network to one that follows its repository."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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
from stockman.steps.kubernetes.smoke_test import PENDING, RunSmokeTest
from stockman.steps.repository import (
    MANAGED_PATHS,
    CommitPushed,
    PushRepository,
    RepositoryReadable,
)
from stockman.steps.step import Stage, Step

_REQUIRED_PARTS = ("namespaces", "releases", "workloads", "definitions", "flux", "secrets")
_MINUTE = 60.0
_READY_SECONDS = 15 * _MINUTE
"""How long a component may take to become ready."""
FLUX = "flux-system"
_NO_CLUSTER = "there is no cluster yet"
_MISSING = "it does not exist"


@record
class KubernetesChange(Change):
    """One difference, with the step that removes it."""

    id: str
    action: Action
    gates: tuple[Gate, ...] = ()
    seconds: float = 5.0
    deadline: float = 10 * _MINUTE

    @property
    def step_ids(self) -> tuple[str, ...]:
        return (self.id,)

    @property
    def is_smoke_test(self) -> bool:
        return isinstance(self.action, RunSmokeTest)


@record
class StageContext:
    """What the steps of the stage depend on."""

    needs: tuple[str, ...] = ()
    """Steps of other stages that come first."""
    push: bool = False
    """Whether rendered files are committed and pushed."""


def plan_kubernetes_changes(
    desired: DesiredKubernetes, observed: ObservedKubernetes | None
) -> tuple[KubernetesChange, ...]:
    """Return all differences in the order in which they are removed.

    `observed` is None if there is no cluster yet. Raises `Refused` (`kube.unknown`) if a part of
    the cluster could not be read.
    """
    if not desired.charts:
        return ()
    if observed is not None:
        _refuse_unknown(observed)
    follows = observed is not None and observed.works(FOLLOWED)
    changes = [*_namespace_changes(desired, observed), *_definition_changes(desired, observed)]
    for chart in desired.charts:
        if chart is desired.charts[-1]:
            changes += _secret_changes(desired.secrets, observed)
        is_tested = chart.component in desired.tested_components
        changes += _chart_changes(chart, observed, follows=follows, is_tested=is_tested)
    is_new = bool(changes) or not follows
    if is_new:
        changes.append(_follow_change(desired, observed))
    changes += _smoke_test_changes(desired, observed, is_new=is_new)
    return tuple(changes)


def _refuse_unknown(observed: ObservedKubernetes) -> None:
    for name in _REQUIRED_PARTS:
        if getattr(observed, name) is None:
            raise Refused(
                problems.cluster_unreadable(observed.unknown.get(name, f"{name} were not read"))
            )


def _namespace_changes(
    desired: DesiredKubernetes, observed: ObservedKubernetes | None
) -> Iterator[KubernetesChange]:
    existing = {
        namespace.name for namespace in (observed.namespaces or () if observed is not None else ())
    }
    for action in desired.namespaces:
        if action.name not in existing:
            yield KubernetesChange(
                what=f"namespace {action.name}",
                why=_MISSING if observed is not None else _NO_CLUSTER,
                mark=ChangeKind.ADD,
                stage=Stage.KUBERNETES,
                id=f"kubernetes/namespace/{action.name}",
                action=action,
                seconds=1.0,
            )


def _definition_changes(
    desired: DesiredKubernetes, observed: ObservedKubernetes | None
) -> Iterator[KubernetesChange]:
    definitions = observed.definitions or () if observed is not None else ()
    served = {definition.name for definition in definitions if definition.ready}
    for bundle in desired.definitions:
        missing = [name for name in bundle.names if name not in served]
        if missing:
            yield KubernetesChange(
                what=f"CRDs of {bundle.bundle} {bundle.version}",
                why=f"{len(missing)} of {len(bundle.names)} kinds are not served",
                mark=ChangeKind.ADD,
                stage=Stage.KUBERNETES,
                id=f"kubernetes/definitions/{bundle.bundle}",
                action=bundle,
            )


def _secret_changes(
    secrets: Sequence[DesiredSecret], observed: ObservedKubernetes | None
) -> Iterator[KubernetesChange]:
    for secret in secrets:
        why = _secret_reason(secret, observed)
        action = secret.action
        if why:
            yield KubernetesChange(
                what=f"Secret {action.namespace}/{action.name}",
                why=why,
                mark=ChangeKind.ADD if why in (_MISSING, _NO_CLUSTER) else ChangeKind.CHANGE,
                stage=Stage.KUBERNETES,
                id=f"kubernetes/secret/{action.namespace}/{action.name}",
                action=action,
                seconds=1.0,
            )


def _secret_reason(desired: DesiredSecret, observed: ObservedKubernetes | None) -> str:
    """Return why a Secret must be written. Empty: it is as desired."""
    if observed is None:
        return _NO_CLUSTER
    secret = find_secret(observed, desired.action)
    if secret is None:
        return _MISSING
    if secret.owner.value == "flux":
        return ""
    differs = [key for key, value in desired.digests.items() if secret.digests.get(key) != value]
    return f"{', '.join(differs)} differs from the encrypted file" if differs else ""


def _chart_changes(
    chart: DesiredChart, observed: ObservedKubernetes | None, *, follows: bool, is_tested: bool
) -> Iterator[KubernetesChange]:
    why = _install_reason(chart, observed)
    is_leftover = not why and _has_leftover_installer(chart, observed)
    if is_leftover:
        why = "an interrupted run left its installer"
    if why:
        yield from _chart_dependencies(chart, observed)
        title = f"{chart.component} {chart.install.version} in {chart.install.namespace}"
        yield KubernetesChange(
            what=f"installer of {title}" if is_leftover else title,
            why=why,
            mark=ChangeKind.REMOVE if is_leftover else ChangeKind.ADD,
            stage=Stage.KUBERNETES,
            id=f"kubernetes/install/{chart.component}",
            action=InstallChart(
                install=chart.install,
                tested_component=chart.component if is_tested else "",
                only_cleans_up=is_leftover,
            ),
            seconds=90.0,
            deadline=chart.install.seconds + 5 * _MINUTE,
        )
    works = observed is not None and observed.works(chart.component)
    if why or not (works or follows):
        unmet = _unmet_conditions(chart.component, observed)
        yield _wait_change(chart.component, chart.conditions, unmet or "this plan installs it")


def _unmet_conditions(component: str, observed: ObservedKubernetes | None) -> str:
    results = observed.working.get(component, ()) if observed is not None else ()
    return "; ".join(
        f"not yet true: {result.condition.says} ({result.seen})"
        for result in results
        if not result.holds
    )


def _smoke_test_changes(
    desired: DesiredKubernetes, observed: ObservedKubernetes | None, *, is_new: bool
) -> Iterator[KubernetesChange]:
    """Return the smoke tests that have not passed, if stockman installs or installed the cluster.

    They run at the end, because most need names, nodes and images.
    """
    results: Mapping[str, str] = (observed.smoke_tests or {}) if observed is not None else {}
    for test in desired.smoke_tests:
        name = test.component
        if results.get(name, PENDING) == PENDING and (is_new or results):
            conditions = desired.conditions.get(name, ())
            yield KubernetesChange(
                what=test.summary,
                why="not tested yet",
                mark=ChangeKind.ADD,
                stage=Stage.KUBERNETES,
                id=f"kubernetes/test/{name}",
                action=test,
                gates=(ComponentReady(component=name, conditions=conditions),),
                seconds=20.0,
                deadline=_READY_SECONDS + test.seconds + 5 * _MINUTE,
            )


def _install_reason(chart: DesiredChart, observed: ObservedKubernetes | None) -> str:
    """Return why a chart must be installed. Empty: it is installed, or Flux does it."""
    if observed is None:
        return _NO_CLUSTER
    install = chart.install
    if observed.of_flux("HelmRelease", install.namespace, install.release) is not None:
        return ""
    release = observed.release(install.namespace, install.release)
    if release is None:
        return "it is not installed"
    if release.status != "deployed":
        return f"its release is {release.status}"
    return ""


def _has_leftover_installer(chart: DesiredChart, observed: ObservedKubernetes | None) -> bool:
    """Return whether a killed run left the objects that install a chart."""
    name = install_names(chart.install).binding.name
    installers = observed.installers or () if observed is not None else ()
    return any(installer.name == name for installer in installers)


def _chart_dependencies(
    chart: DesiredChart, observed: ObservedKubernetes | None
) -> Iterator[KubernetesChange]:
    """Return objects that a chart uses but does not contain."""
    yield from _secret_changes(chart.secrets, observed)
    existing = {
        (config_map.namespace, config_map.name)
        for config_map in (observed.config_maps or () if observed is not None else ())
    }
    for action in chart.config_maps:
        if (action.namespace, action.name) not in existing:
            yield KubernetesChange(
                what=f"ConfigMap {action.namespace}/{action.name}",
                why=_MISSING,
                mark=ChangeKind.ADD,
                stage=Stage.KUBERNETES,
                id=f"kubernetes/config-map/{action.namespace}/{action.name}",
                action=action,
                seconds=1.0,
            )


def _wait_change(
    component: str, conditions: Sequence[ObjectCondition], why: str
) -> KubernetesChange:
    return KubernetesChange(
        what=f"{component} is ready",
        why=why,
        mark=ChangeKind.CHANGE,
        stage=Stage.KUBERNETES,
        id=f"kubernetes/wait/{component}",
        action=Checkpoint(text=f"wait until {component} is ready"),
        gates=(ComponentReady(component=component, conditions=tuple(conditions)),),
        seconds=30.0,
        deadline=_READY_SECONDS,
    )


def _follow_change(
    desired: DesiredKubernetes, observed: ObservedKubernetes | None
) -> KubernetesChange:
    why = _unmet_conditions(FOLLOWED, observed) or "Flux has not applied it yet"
    return _wait_change(FOLLOWED, desired.followed, why)


def kubernetes_steps(
    changes: Sequence[KubernetesChange], desired: DesiredKubernetes, context: StageContext
) -> tuple[Step, ...]:
    """Return the steps of the stage: one after the other, then all smoke tests in parallel.

    The first ones check that the cluster will find the repository.
    """
    if not changes:
        return ()
    steps: list[Step] = []
    if context.push:
        steps.append(_repository_step("kubernetes/push", _push_action(desired)))
    pushed = Checkpoint(text=f"check that the rendered files are pushed to {desired.branch}")
    gates: tuple[Gate, ...] = (
        CommitPushed(branch=desired.branch, pull_request=desired.pull_request),
    )
    if desired.pending:
        gates = (NoPendingSecrets(pending=desired.pending), *gates)
    if desired.remote is not None and desired.charts:
        gates = (*gates, RepositoryReadable(remote=desired.remote))
    if all(change.id != "kubernetes/push" for change in changes):
        steps.append(_repository_step("kubernetes/pushed", pushed, gates))
    steps += [_step(change) for change in changes if not change.is_smoke_test]
    chain = tuple(_chain_steps(steps, context.needs))
    last = (chain[-1].id,)
    tests = (
        replace(_step(change), needs=last, lanes=()) for change in changes if change.is_smoke_test
    )
    return (*chain, *tests)


def _step(change: KubernetesChange) -> Step:
    return Step(
        id=change.id,
        action=change.action,
        stage=Stage.KUBERNETES,
        reason=change.why,
        gates=change.gates,
        deadline=change.deadline,
        seconds=change.seconds,
        lanes=("kubernetes",),
    )


def _push_action(desired: DesiredKubernetes) -> PushRepository:
    push = PushRepository(
        branch=desired.branch,
        places=desired.files or MANAGED_PATHS,
        pull_request=desired.pull_request,
    )
    return replace(push, message=desired.push_message) if desired.push_message else push


def push_change(desired: DesiredKubernetes, why: str) -> KubernetesChange:
    """Return the push of rendered files to a repository that the cluster follows already."""
    return KubernetesChange(
        what=f"push the rendered files to branch {desired.branch}",
        why=why,
        mark=ChangeKind.CHANGE,
        stage=Stage.KUBERNETES,
        id="kubernetes/push",
        action=_push_action(desired),
        seconds=3.0,
    )


def reconcile_changes(
    desired: DesiredKubernetes, observed: ObservedKubernetes, request: str, why: str
) -> Iterator[KubernetesChange]:
    """Return changes that make Flux fetch and apply the repository now, not at its interval."""
    for kind in (GIT_REPOSITORIES, KUSTOMIZATIONS):
        if observed.of_flux(kind.name, FLUX, FLUX) is None:
            return
        yield KubernetesChange(
            what=f"Flux reconciles its {kind.name}",
            why=why,
            mark=ChangeKind.CHANGE,
            stage=Stage.KUBERNETES,
            id=f"kubernetes/reconcile/{kind.plural}",
            action=Reconcile(of=kind, namespace=FLUX, name=FLUX, request=request),
            seconds=15.0,
        )
    yield _wait_change(FOLLOWED, desired.followed, why)


def _repository_step(name: str, action: Action, gates: tuple[Gate, ...] = ()) -> Step:
    return Step(
        id=name,
        action=action,
        stage=Stage.KUBERNETES,
        reason="Flux installs what the pushed commit contains",
        gates=gates,
    )


def _chain_steps(steps: Sequence[Step], needs: tuple[str, ...]) -> Iterator[Step]:
    before = needs
    for step in steps:
        yield replace(step, needs=before)
        before = (step.id,)
