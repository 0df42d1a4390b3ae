"""The Job that installs a chart, and what it needs around it."""

from __future__ import annotations

from contextlib import aclosing
from typing import ClassVar

from stockman.kubernetes.client import KubernetesClient
from stockman.kubernetes.objects import (
    CONFIG_MAPS,
    JOBS,
    SECRETS,
    SERVICE_ACCOUNTS,
    DeleteOptions,
    Object,
    ObjectRef,
    Propagation,
    Selection,
)
from stockman.kubernetes.pods import Pod, PodLogRequest
from stockman.model.errors import NotFound, Refused, Rejected, StockmanError
from stockman.model.problem import Problem
from stockman.model.record import record
from stockman.steps.base import Action
from stockman.steps.digest import digest
from stockman.steps.kubernetes import problems
from stockman.steps.kubernetes.objects import (
    MANAGED_BY,
    MANAGER,
    ROLE_BINDINGS,
    apply_object,
    field_managers,
    find_object,
    is_managed,
    mapping_at,
    object_uid,
    read_condition,
    text_at,
    with_owner_labels,
)
from stockman.steps.kubernetes.releases import find_release
from stockman.steps.kubernetes.smoke_test import STARTED, record_smoke_test
from stockman.steps.ports import Ports

HELM_IMAGE = "docker.io/alpine/helm:4.0.1"
NAMESPACE = "kube-system"
"""Pods in it may use the network of their node, whatever the rest of the cluster allows."""
DIGEST = "stockman.dev/installs"
"""Annotation that tells which values and version a Job installs."""
_PREFIX = "stockman-install-"
_VALUES = "/values/values.yaml"
_JOB_TTL = 3600
"""Seconds that a Job stays when nobody is there to remove it."""
_TRIES = 2
_CONTROL_PLANE = "node-role.kubernetes.io/control-plane"


@record
class ChartInstall:
    """What is installed: a chart, its values, and the release that it becomes."""

    release: str
    """As the HelmRelease is named, so that Flux takes the release over."""
    namespace: str
    source: str
    """`oci://` address of the chart, or the address of its repository."""
    version: str
    values: str
    """JSON, as the HelmRelease has them."""
    chart: str = ""
    """Its name in a repository; empty for OCI."""
    image: str = HELM_IMAGE
    seconds: int = 900
    """How long it may take, with every try."""
    waits: bool = True
    """Whether it ends only when what was installed is ready."""

    @property
    def arguments(self) -> tuple[str, ...]:
        """Arguments of helm."""
        place = (self.source,) if not self.chart else (self.chart, "--repo", self.source)
        waiting = ("--wait", "--timeout", f"{max(self.seconds // 2, 60)}s") if self.waits else ()
        return (
            *("upgrade", "--install", self.release, *place),
            *("--version", self.version, "--namespace", self.namespace),
            *("--values", _VALUES, *waiting),
        )


@record
class InstallNames:
    """The objects around one install."""

    job: ObjectRef
    values: ObjectRef
    account: ObjectRef
    binding: ObjectRef

    @property
    def every(self) -> tuple[ObjectRef, ...]:
        return (self.binding, self.account, self.values, self.job)


def install_names(install: ChartInstall) -> InstallNames:
    """What an install is made of, by name; two releases of one name are told apart."""
    name = f"{_PREFIX}{install.release}"
    return InstallNames(
        job=ObjectRef(kind=JOBS, name=name, namespace=NAMESPACE),
        values=ObjectRef(kind=CONFIG_MAPS, name=name, namespace=NAMESPACE),
        account=ObjectRef(kind=SERVICE_ACCOUNTS, name=name, namespace=NAMESPACE),
        binding=ObjectRef(kind=ROLE_BINDINGS, name=name),
    )


def build_install_job(install: ChartInstall, digest: str) -> dict[str, object]:
    """The Job: on a control plane, in its network, before anything else works."""
    names = install_names(install)
    pod: dict[str, object] = {
        "restartPolicy": "Never",
        "serviceAccountName": names.account.name,
        # There are neither a network of pods nor names yet.
        "hostNetwork": True,
        "dnsPolicy": "Default",
        "nodeSelector": {"kubernetes.io/os": "linux", _CONTROL_PLANE: ""},
        "tolerations": [{"operator": "Exists"}],
        "priorityClassName": "system-cluster-critical",
        "containers": [_container(install)],
        "volumes": [
            {"name": "values", "configMap": {"name": names.values.name}},
            {"name": "home", "emptyDir": {}},
        ],
    }
    labels = {MANAGED_BY: MANAGER, "app.kubernetes.io/name": names.job.name}
    content = with_owner_labels(
        JOBS,
        names.job.name,
        names.job.namespace,
        spec={
            "backoffLimit": _TRIES,
            "activeDeadlineSeconds": install.seconds,
            "ttlSecondsAfterFinished": _JOB_TTL,
            "template": {"metadata": {"labels": labels}, "spec": pod},
        },
    )
    metadata = content["metadata"]
    if isinstance(metadata, dict):
        metadata["annotations"] = {DIGEST: digest}
    return content


def _container(install: ChartInstall) -> dict[str, object]:
    # The service of the API has no address that works before there is a network: each control
    # plane has a server of its own.
    address = {"valueFrom": {"fieldRef": {"fieldPath": "status.hostIP"}}}
    return {
        "name": "helm",
        "image": install.image,
        "args": list(install.arguments),
        "env": [
            {"name": "KUBERNETES_SERVICE_HOST", **address},
            {"name": "KUBERNETES_SERVICE_PORT", "value": "6443"},
            {"name": "HOME", "value": "/home/helm"},
        ],
        "volumeMounts": [
            {"name": "values", "mountPath": "/values", "readOnly": True},
            {"name": "home", "mountPath": "/home/helm"},
        ],
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
            "runAsNonRoot": True,
            "runAsUser": 65534,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
    }


_LINES = 8


async def job_failure_reason(
    kubernetes: KubernetesClient, install: ChartInstall, job: Object
) -> Problem:
    """What a Job and the last lines of its pod say."""
    ref = install_names(install).job
    selection = Selection(namespace=ref.namespace, labels=f"job-name={ref.name}")
    pods = await kubernetes.pods(selection)
    told = read_condition(job, "Failed")
    reasons = [f"{told.reason}: {told.message}"] if told.holds else ["it did not end in time"]
    reasons += [one for pod in pods for one in _waiting_reasons(pod)]
    lines: list[str] = []
    where = ref.shown
    for pod in reversed(pods):
        lines = await _last_lines(kubernetes, pod)
        where = f"{ref.shown}, pod {pod.name} on {pod.node or 'no node'}"
        if lines:
            break
    why = "; ".join(dict.fromkeys(reasons))
    return problems.chart_install_failure(install.release, where, why, lines)


def _waiting_reasons(pod: Pod) -> list[str]:
    found = [f"{one.name} waits: {one.waiting}" for one in pod.containers if one.waiting]
    placed = (one for one in pod.conditions if one.type == "PodScheduled" and not one.holds)
    return [*found, *(f"not placed: {one.message}" for one in placed)]


async def _last_lines(kubernetes: KubernetesClient, pod: Pod) -> list[str]:
    wish = PodLogRequest(namespace=pod.namespace, pod=pod.name, last=_LINES)
    found: list[str] = []
    try:
        async with aclosing(kubernetes.log(wish)) as lines:
            async for line in lines:
                found.append(line)  # noqa: PERF401  # what came before a failure counts
    except StockmanError as error:
        return [*found, f"(its log cannot be read: {error.problem.what})"]
    return found[-_LINES:]


_PAUSE = 2.0
_SPARE = 60.0
"""Seconds after which a Job that should have ended is given up."""


@record
class InstallChart(Action):
    """Install one chart by a Job that is gone afterwards."""

    kind: ClassVar[str] = "kube.chart"
    install: ChartInstall
    trial: str = ""
    """The component that is tried once everything is installed. Empty: none is."""
    only_ends: bool = False
    """Whether it is installed already, and only what a killed run left of the Job is to go."""

    @property
    def summary(self) -> str:
        chart = self.install
        if self.only_ends:
            return f"remove what installed {chart.release} {chart.version}"
        return f"install {chart.release} {chart.version} into {chart.namespace}"

    @property
    def touches(self) -> tuple[str, ...]:
        return (f"release/{self.install.namespace}/{self.install.release}",)

    async def done(self, ports: Ports) -> bool:
        kubernetes = ports.to_kubernetes()
        if await find_object(kubernetes, install_names(self.install).binding) is not None:
            return False
        return self.only_ends or await self._is_deployed(kubernetes)

    async def run(self, ports: Ports) -> None:
        kubernetes = ports.to_kubernetes()
        await self._refuse_strangers(kubernetes)
        running = await self._running(ports)
        if running is None and not await self._is_over(kubernetes):
            await self._unlock(kubernetes)
            await self._begin(kubernetes)
        elif running is None:
            await self._clean_up(kubernetes)
            return
        await self._finish(ports)

    async def _is_over(self, kubernetes: KubernetesClient) -> bool:
        return self.only_ends or await self._is_deployed(kubernetes)

    async def _is_deployed(self, kubernetes: KubernetesClient) -> bool:
        there = await find_release(kubernetes, self.install.release, self.install.namespace)
        return there is not None and there.status == "deployed"

    async def _refuse_strangers(self, kubernetes: KubernetesClient) -> None:
        for ref in install_names(self.install).every:
            there = await find_object(kubernetes, ref)
            if there is not None and not is_managed(there):
                why = "it has the name of what installs a chart"
                raise Refused(problems.foreign_object(ref, field_managers(there), why))

    async def _running(self, ports: Ports) -> Object | None:
        """The Job of an earlier run that does the same; another one is taken away first."""
        kubernetes, ref = ports.to_kubernetes(), install_names(self.install).job
        while (there := await find_object(kubernetes, ref)) is not None:
            leaving = bool(text_at(there, "metadata", "deletionTimestamp"))
            same = text_at(there, "metadata", "annotations", DIGEST) == digest(self.install)
            if same and not leaving and not read_condition(there, "Failed").holds:
                return there
            if not leaving:
                await _delete_object(kubernetes, ref, there)
            await ports.clock.sleep(_PAUSE)
        return None

    async def _unlock(self, kubernetes: KubernetesClient) -> None:
        """Forget a first install that was cut off: Helm waits for it for ever."""
        there = await find_release(kubernetes, self.install.release, self.install.namespace)
        if there is not None and there.is_pending and there.revision == 1:
            ref = ObjectRef(kind=SECRETS, name=there.secret, namespace=there.namespace)
            await _delete_object(kubernetes, ref, {"metadata": {"uid": there.uid}})

    async def _begin(self, kubernetes: KubernetesClient) -> None:
        names = install_names(self.install)
        account = names.account
        binding = with_owner_labels(
            ROLE_BINDINGS,
            names.binding.name,
            roleRef={
                "apiGroup": ROLE_BINDINGS.group,
                "kind": "ClusterRole",
                "name": "cluster-admin",
            },
            subjects=[
                {"kind": "ServiceAccount", "name": account.name, "namespace": account.namespace}
            ],
        )
        values = with_owner_labels(
            CONFIG_MAPS,
            names.values.name,
            names.values.namespace,
            data={"values.yaml": self.install.values},
        )
        if self.trial:
            # Whoever goes on knows by this that it is still to be tried.
            await record_smoke_test(kubernetes, self.trial, STARTED)
        # The binding is the first to come and the last to go: without it nothing else is there.
        await apply_object(kubernetes, ROLE_BINDINGS, binding)
        await apply_object(
            kubernetes,
            SERVICE_ACCOUNTS,
            with_owner_labels(SERVICE_ACCOUNTS, account.name, account.namespace),
        )
        await apply_object(kubernetes, CONFIG_MAPS, values)
        await apply_object(kubernetes, JOBS, build_install_job(self.install, digest(self.install)))

    async def _finish(self, ports: Ports) -> None:
        kubernetes, ref = ports.to_kubernetes(), install_names(self.install).job
        end = ports.clock.now().timestamp() + self.install.seconds + _SPARE
        while True:
            there = await find_object(kubernetes, ref)
            if there is None:  # somebody else took it away, or its time was over
                if await self._is_deployed(kubernetes):
                    break
                why = "the Job is gone before it ended"
                await self._fail(kubernetes, problems.chart_install_failure(*self._place, why, ()))
                continue
            if read_condition(there, "Complete").holds:
                break
            late = ports.clock.now().timestamp() >= end
            if late or read_condition(there, "Failed").holds:
                await self._fail(
                    kubernetes, await job_failure_reason(kubernetes, self.install, there)
                )
            await ports.clock.sleep(_PAUSE)
        await self._clean_up(kubernetes)

    @property
    def _place(self) -> tuple[str, str]:
        return self.install.release, install_names(self.install).job.shown

    async def _fail(self, kubernetes: KubernetesClient, problem: Problem) -> None:
        await self._clean_up(kubernetes)
        raise Rejected(problem)

    async def _clean_up(self, kubernetes: KubernetesClient) -> None:
        names = install_names(self.install)
        for ref in (names.job, names.values, names.account, names.binding):
            there = await find_object(kubernetes, ref)
            if there is not None and is_managed(there):
                await _delete_object(kubernetes, ref, there)


async def _delete_object(kubernetes: KubernetesClient, ref: ObjectRef, content: Object) -> None:
    """Delete exactly the object that was seen; one that is gone is fine."""
    if mapping_at(content, "metadata").get("deletionTimestamp"):
        return
    how = DeleteOptions(uid=object_uid(content), propagation=Propagation.BACKGROUND)
    try:
        await kubernetes.delete(ref, how)
    except NotFound:
        return
