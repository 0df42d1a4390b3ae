"""Charts that have to run before Flux does, installed from inside of the cluster.

A Job runs helm with the values that the repository has for Flux, under the same release name, so
that Flux finds the release as it would have made it and takes it over.
"""

from __future__ import annotations

from typing import ClassVar

from stockman.model.errors import NotFound, Refused, Rejected
from stockman.model.problem import Problem
from stockman.model.record import record
from stockman.ports.kubernetes import Kubernetes
from stockman.ports.kubernetes.kinds import CONFIG_MAPS, JOBS, SECRETS, SERVICE_ACCOUNTS, Ref
from stockman.ports.kubernetes.objects import Deletion, Object, Propagation
from stockman.steps import kube_problems as problems
from stockman.steps.base import Action
from stockman.steps.digest import digest
from stockman.steps.kube_applying import found, ours, put
from stockman.steps.kube_job import DIGEST, Install, job, names_of
from stockman.steps.kube_job_failure import failure
from stockman.steps.kube_kinds import ROLE_BINDINGS
from stockman.steps.kube_reading import condition, is_ours, managers_of, part, text, uid_of
from stockman.steps.kube_release import release
from stockman.steps.kube_trial import BEGUN, note_trial
from stockman.steps.ports import Ports

_PAUSE = 2.0
_SPARE = 60.0
"""Seconds after which a Job that should have ended is given up."""


@record
class InstallChart(Action):
    """Install one chart by a Job that is gone afterwards."""

    kind: ClassVar[str] = "kube.chart"
    install: Install
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
        if await found(kubernetes, names_of(self.install).binding) is not None:
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

    async def _is_over(self, kubernetes: Kubernetes) -> bool:
        return self.only_ends or await self._is_deployed(kubernetes)

    async def _is_deployed(self, kubernetes: Kubernetes) -> bool:
        there = await release(kubernetes, self.install.release, self.install.namespace)
        return there is not None and there.status == "deployed"

    async def _refuse_strangers(self, kubernetes: Kubernetes) -> None:
        for ref in names_of(self.install).every:
            there = await found(kubernetes, ref)
            if there is not None and not is_ours(there):
                why = "it has the name of what installs a chart"
                raise Refused(problems.foreign(ref, managers_of(there), why))

    async def _running(self, ports: Ports) -> Object | None:
        """The Job of an earlier run that does the same; another one is taken away first."""
        kubernetes, ref = ports.to_kubernetes(), names_of(self.install).job
        while (there := await found(kubernetes, ref)) is not None:
            leaving = bool(text(there, "metadata", "deletionTimestamp"))
            same = text(there, "metadata", "annotations", DIGEST) == digest(self.install)
            if same and not leaving and not condition(there, "Failed").holds:
                return there
            if not leaving:
                await _delete(kubernetes, ref, there)
            await ports.clock.sleep(_PAUSE)
        return None

    async def _unlock(self, kubernetes: Kubernetes) -> None:
        """Forget a first install that was cut off: Helm waits for it for ever."""
        there = await release(kubernetes, self.install.release, self.install.namespace)
        if there is not None and there.is_pending and there.revision == 1:
            ref = Ref(kind=SECRETS, name=there.secret, namespace=there.namespace)
            await _delete(kubernetes, ref, {"metadata": {"uid": there.uid}})

    async def _begin(self, kubernetes: Kubernetes) -> None:
        names = names_of(self.install)
        account = names.account
        binding = ours(
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
        values = ours(
            CONFIG_MAPS,
            names.values.name,
            names.values.namespace,
            data={"values.yaml": self.install.values},
        )
        if self.trial:
            # Whoever goes on knows by this that it is still to be tried.
            await note_trial(kubernetes, self.trial, BEGUN)
        # The binding is the first to come and the last to go: without it nothing else is there.
        await put(kubernetes, ROLE_BINDINGS, binding)
        await put(
            kubernetes, SERVICE_ACCOUNTS, ours(SERVICE_ACCOUNTS, account.name, account.namespace)
        )
        await put(kubernetes, CONFIG_MAPS, values)
        await put(kubernetes, JOBS, job(self.install, digest(self.install)))

    async def _finish(self, ports: Ports) -> None:
        kubernetes, ref = ports.to_kubernetes(), names_of(self.install).job
        end = ports.clock.now().timestamp() + self.install.seconds + _SPARE
        while True:
            there = await found(kubernetes, ref)
            if there is None:  # somebody else took it away, or its time was over
                if await self._is_deployed(kubernetes):
                    break
                why = "the Job is gone before it ended"
                await self._fail(kubernetes, problems.install_failed(*self._place, why, ()))
                continue
            if condition(there, "Complete").holds:
                break
            late = ports.clock.now().timestamp() >= end
            if late or condition(there, "Failed").holds:
                await self._fail(kubernetes, await failure(kubernetes, self.install, there))
            await ports.clock.sleep(_PAUSE)
        await self._clean_up(kubernetes)

    @property
    def _place(self) -> tuple[str, str]:
        return self.install.release, names_of(self.install).job.shown

    async def _fail(self, kubernetes: Kubernetes, problem: Problem) -> None:
        await self._clean_up(kubernetes)
        raise Rejected(problem)

    async def _clean_up(self, kubernetes: Kubernetes) -> None:
        names = names_of(self.install)
        for ref in (names.job, names.values, names.account, names.binding):
            there = await found(kubernetes, ref)
            if there is not None and is_ours(there):
                await _delete(kubernetes, ref, there)


async def _delete(kubernetes: Kubernetes, ref: Ref, content: Object) -> None:
    """Delete exactly the object that was seen; one that is gone is fine."""
    if part(content, "metadata").get("deletionTimestamp"):
        return
    how = Deletion(uid=uid_of(content), propagation=Propagation.BACKGROUND)
    try:
        await kubernetes.delete(ref, how)
    except NotFound:
        return
