"""The Job that installs a chart, and the objects that it needs."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import field
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
from stockman.steps.kubernetes.smoke_test import PENDING, record_smoke_test
from stockman.steps.ports import Ports

HELM_IMAGE = "docker.io/alpine/helm:4.0.1"
NAMESPACE = "kube-system"
"""Pods in this namespace may use the host network, whatever other namespaces allow."""
DIGEST = "stockman.dev/installs"
"""Annotation with a digest of the values and version that a Job installs."""
_PREFIX = "stockman-install-"
_VALUES = "/values/values.yaml"
_JOB_TTL = 3600
"""Seconds after which Kubernetes deletes a finished Job."""
_TRIES = 2
_CONTROL_PLANE = "node-role.kubernetes.io/control-plane"


@record
class ChartInstall:
    """A chart with its values and the name of its release."""

    release: str
    """Name of the HelmRelease, so that Flux takes over the release."""
    namespace: str
    source: str
    """`oci://` address of the chart, or the URL of its repository."""
    version: str
    values: str
    """JSON; the values of the HelmRelease."""
    chart: str = ""
    """Name in the repository; empty for OCI."""
    image: str = HELM_IMAGE
    seconds: int = 900
    """Timeout for all attempts."""
    waits: bool = True
    """Whether Helm waits until the installed objects are ready."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables with the proxy of the site."""

    @property
    def arguments(self) -> tuple[str, ...]:
        """Arguments of helm."""
        chart = (self.source,) if not self.chart else (self.chart, "--repo", self.source)
        waiting = ("--wait", "--timeout", f"{max(self.seconds // 2, 60)}s") if self.waits else ()
        return (
            *("upgrade", "--install", self.release, *chart),
            *("--version", self.version, "--namespace", self.namespace),
            *("--values", _VALUES, *waiting),
        )


@record
class InstallNames:
    """The objects that install one chart."""

    job: ObjectRef
    values: ObjectRef
    account: ObjectRef
    binding: ObjectRef

    @property
    def every(self) -> tuple[ObjectRef, ...]:
        return (self.binding, self.account, self.values, self.job)


def install_names(install: ChartInstall) -> InstallNames:
    """Return the objects that install a chart."""
    name = f"{_PREFIX}{install.release}"
    return InstallNames(
        job=ObjectRef(kind=JOBS, name=name, namespace=NAMESPACE),
        values=ObjectRef(kind=CONFIG_MAPS, name=name, namespace=NAMESPACE),
        account=ObjectRef(kind=SERVICE_ACCOUNTS, name=name, namespace=NAMESPACE),
        binding=ObjectRef(kind=ROLE_BINDINGS, name=name),
    )


def build_install_job(install: ChartInstall, digest: str) -> dict[str, object]:
    """Return the Job: it runs on a control plane node, in the host network."""
    names = install_names(install)
    pod: dict[str, object] = {
        "restartPolicy": "Never",
        "serviceAccountName": names.account.name,
        # There is no pod network and no DNS yet.
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
    # The Service of the API does not work without a network; each control plane node has its own
    # API server.
    address = {"valueFrom": {"fieldRef": {"fieldPath": "status.hostIP"}}}
    return {
        "name": "helm",
        "image": install.image,
        "args": list(install.arguments),
        "env": [
            {"name": "KUBERNETES_SERVICE_HOST", **address},
            {"name": "KUBERNETES_SERVICE_PORT", "value": "6443"},
            {"name": "HOME", "value": "/home/helm"},
            *({"name": name, "value": value} for name, value in install.environment.items()),
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
    """Return why a Job failed, from its status and the log of its pod."""
    ref = install_names(install).job
    selection = Selection(namespace=ref.namespace, labels=f"job-name={ref.name}")
    pods = await kubernetes.pods(selection)
    failed = read_condition(job, "Failed")
    reasons = [f"{failed.reason}: {failed.message}"] if failed.holds else ["it timed out"]
    reasons += [reason for pod in pods for reason in _waiting_reasons(pod)]
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
    waiting = [
        f"container {container.name} waits: {container.waiting}"
        for container in pod.containers
        if container.waiting
    ]
    unscheduled = [
        f"not scheduled: {condition.message}"
        for condition in pod.conditions
        if condition.type == "PodScheduled" and not condition.holds
    ]
    return [*waiting, *unscheduled]


async def _last_lines(kubernetes: KubernetesClient, pod: Pod) -> list[str]:
    request = PodLogRequest(namespace=pod.namespace, pod=pod.name, last=_LINES)
    lines: list[str] = []
    try:
        async with aclosing(kubernetes.log(request)) as log:
            async for line in log:
                lines.append(line)  # noqa: PERF401  # keeps the lines before a failure
    except StockmanError as error:
        return [*lines, f"(its log cannot be read: {error.problem.what})"]
    return lines[-_LINES:]


_PAUSE = 2.0
_SPARE = 60.0
"""Seconds that a Job may take beyond its own timeout."""


@record
class InstallChart(Action):
    """Install one chart with a Job, which is deleted afterwards."""

    kind: ClassVar[str] = "kube.chart"
    install: ChartInstall
    tested_component: str = ""
    """Component whose smoke test follows. Empty: there is none."""
    only_cleans_up: bool = False
    """Whether the chart is installed, and only the Job of a killed run must be deleted."""

    @property
    def summary(self) -> str:
        chart = self.install
        if self.only_cleans_up:
            return f"delete the installer of {chart.release} {chart.version}"
        return f"install {chart.release} {chart.version} into {chart.namespace}"

    @property
    def touches(self) -> tuple[str, ...]:
        return (f"release/{self.install.namespace}/{self.install.release}",)

    async def done(self, ports: Ports) -> bool:
        kubernetes = ports.to_kubernetes()
        if await find_object(kubernetes, install_names(self.install).binding) is not None:
            return False
        return self.only_cleans_up or await self._is_deployed(kubernetes)

    async def run(self, ports: Ports) -> None:
        kubernetes = ports.to_kubernetes()
        await self._refuse_foreign_objects(kubernetes)
        running = await self._find_job(ports)
        if running is None and not await self._is_finished(kubernetes):
            await self._unlock(kubernetes)
            await self._begin(kubernetes)
        elif running is None:
            await self._clean_up(kubernetes)
            return
        await self._finish(ports)

    async def _is_finished(self, kubernetes: KubernetesClient) -> bool:
        return self.only_cleans_up or await self._is_deployed(kubernetes)

    async def _is_deployed(self, kubernetes: KubernetesClient) -> bool:
        release = await find_release(kubernetes, self.install.release, self.install.namespace)
        return release is not None and release.status == "deployed"

    async def _refuse_foreign_objects(self, kubernetes: KubernetesClient) -> None:
        for ref in install_names(self.install).every:
            content = await find_object(kubernetes, ref)
            if content is not None and not is_managed(content):
                why = "installing a chart needs an object with this name"
                raise Refused(problems.foreign_object(ref, field_managers(content), why))

    async def _find_job(self, ports: Ports) -> Object | None:
        """Return the Job of an earlier run with the same content; deletes any other Job."""
        kubernetes, ref = ports.to_kubernetes(), install_names(self.install).job
        while (job := await find_object(kubernetes, ref)) is not None:
            leaving = bool(text_at(job, "metadata", "deletionTimestamp"))
            same = text_at(job, "metadata", "annotations", DIGEST) == digest(self.install)
            if same and not leaving and not read_condition(job, "Failed").holds:
                return job
            if not leaving:
                await _delete_object(kubernetes, ref, job)
            await ports.clock.sleep(_PAUSE)
        return None

    async def _unlock(self, kubernetes: KubernetesClient) -> None:
        """Delete the release of an interrupted first install: Helm refuses to continue it."""
        release = await find_release(kubernetes, self.install.release, self.install.namespace)
        if release is not None and release.is_pending and release.revision == 1:
            ref = ObjectRef(kind=SECRETS, name=release.secret, namespace=release.namespace)
            await _delete_object(kubernetes, ref, {"metadata": {"uid": release.uid}})

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
        if self.tested_component:
            # A later run knows from this that the component must still be tested.
            await record_smoke_test(kubernetes, self.tested_component, PENDING)
        # The binding is created first and deleted last: the others exist only while it does.
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
            job = await find_object(kubernetes, ref)
            if job is None:  # deleted by somebody else, or after its TTL
                if await self._is_deployed(kubernetes):
                    break
                why = "the Job was deleted before it finished"
                release = self.install.release
                await self._fail(
                    kubernetes, problems.chart_install_failure(release, ref.shown, why, ())
                )
                continue
            if read_condition(job, "Complete").holds:
                break
            late = ports.clock.now().timestamp() >= end
            if late or read_condition(job, "Failed").holds:
                await self._fail(
                    kubernetes, await job_failure_reason(kubernetes, self.install, job)
                )
            await ports.clock.sleep(_PAUSE)
        await self._clean_up(kubernetes)

    async def _fail(self, kubernetes: KubernetesClient, problem: Problem) -> None:
        await self._clean_up(kubernetes)
        raise Rejected(problem)

    async def _clean_up(self, kubernetes: KubernetesClient) -> None:
        names = install_names(self.install)
        for ref in (names.job, names.values, names.account, names.binding):
            content = await find_object(kubernetes, ref)
            if content is not None and is_managed(content):
                await _delete_object(kubernetes, ref, content)


async def _delete_object(kubernetes: KubernetesClient, ref: ObjectRef, content: Object) -> None:
    """Delete exactly the observed object; it may be deleted already."""
    if mapping_at(content, "metadata").get("deletionTimestamp"):
        return
    options = DeleteOptions(uid=object_uid(content), propagation=Propagation.BACKGROUND)
    try:
        await kubernetes.delete(ref, options)
    except NotFound:
        return
