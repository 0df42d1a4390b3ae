"""Calls for files that let clients in."""

from __future__ import annotations

import gzip
import io
import tarfile
import zlib
from collections.abc import Iterable
from datetime import timedelta
from uuid import UUID

from stockman.model.errors import Denied, NotFound
from stockman.model.names import MachineAddress
from stockman.model.secret import Secret
from stockman.talos.api.calls import (
    MACHINE,
    InvalidAnswer,
    Row,
    get_optional_text,
    get_required_flag,
    get_rows,
    get_text,
)
from stockman.talos.api.configuration import ConfigurationCalls
from stockman.talos.api.etcd import EtcdCalls
from stockman.talos.api.events import EventCalls
from stockman.talos.api.machines import MachineCalls
from stockman.talos.api.network import DiskCalls, NetworkCalls
from stockman.talos.api.resources import FileCalls, ResourceCalls, ResourceKind
from stockman.talos.api.upgrades import UpgradeCalls
from stockman.talos.records.kubernetes import KubeletState, KubernetesNode, StaticPod
from stockman.talos.records.machines import Disk, Link, TalosVersion
from stockman.talos.records.operations import (
    ApplyConfigurationRequest,
    ApplyConfigurationResult,
    MaintenanceMachine,
)

_KUBECONFIG, _GENERATE = f"{MACHINE}/Kubeconfig", f"{MACHINE}/GenerateClientConfiguration"
_LARGEST_KUBECONFIG = 1 << 20


class ClientConfigCalls(FileCalls):
    """`ports.talos.clients.Clients` over a wire."""

    async def kubeconfig(self, node: MachineAddress) -> Secret:
        packed = await self._whole(_KUBECONFIG, node, {}, _LARGEST_KUBECONFIG)
        try:
            return Secret(_unpack_archive(packed), resolved=True)
        except InvalidAnswer as error:
            raise self._odd(_KUBECONFIG, node, str(error)) from None

    async def client_configuration(
        self, node: MachineAddress, roles: Iterable[str], lifetime: timedelta
    ) -> Secret:
        fields = {"roles": list(roles), "crt_ttl": lifetime.total_seconds()}
        row = await self._change(_GENERATE, node, fields)
        found = row.get("talosconfig")
        if not isinstance(found, bytes) or not found:
            raise self._odd(_GENERATE, node, "there is no talosconfig in its answer")
        return Secret(found.decode("utf-8", "replace"), resolved=True)


def _unpack_archive(packed: bytes) -> str:
    """The one file of a compressed archive; nothing is unpacked that could be endless."""
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(packed)) as zipped:
            plain = zipped.read(_LARGEST_KUBECONFIG + 1)
        if len(plain) > _LARGEST_KUBECONFIG:
            raise InvalidAnswer("it is too large to be a kubeconfig")
        with tarfile.open(fileobj=io.BytesIO(plain), mode="r:") as archive:
            found = archive.extractfile("kubeconfig")
            content = b"" if found is None else found.read()
    except (OSError, EOFError, zlib.error, tarfile.TarError, KeyError):
        raise InvalidAnswer("there is no kubeconfig in its answer") from None
    if not content:
        raise InvalidAnswer("the kubeconfig is empty")
    return content.decode("utf-8", "replace")


_PODS = ResourceKind(namespace="k8s", type="StaticPodStatuses.kubernetes.talos.dev")
_KUBELET = ResourceKind(namespace="k8s", type="KubeletSpecs.kubernetes.talos.dev")
_NODE = ResourceKind(namespace="k8s", type="NodeStatuses.kubernetes.talos.dev")
_NODENAME = ResourceKind(namespace="k8s", type="Nodenames.kubernetes.talos.dev")


class KubernetesCalls(ResourceCalls):
    """`ports.talos.kubernetes.KubernetesParts` over a wire."""

    async def static_pods(self, node: MachineAddress) -> tuple[StaticPod, ...]:
        return await self._resources(node, _PODS, _static_pod)

    async def kubelet(self, node: MachineAddress) -> KubeletState:
        return await self._resource(node, _KUBELET, "kubelet", _kubelet_state)

    async def kubernetes_node(self, node: MachineAddress) -> KubernetesNode:
        name = await self._resource(
            node, _NODENAME, "nodename", lambda row: get_text(row, "nodename")
        )
        return await self._resource(node, _NODE, name, _kubernetes_node)


def _static_pod(name: str, row: Row) -> StaticPod:
    return StaticPod(id=name, ready=_is_pod_ready(row), phase=get_optional_text(row, "phase"))


def _is_pod_ready(row: Row) -> bool:
    """A pod that tells nothing of being ready is not."""
    return any(
        one.get("type") == "Ready" and one.get("status") == "True"
        for one in get_rows(row, "conditions")
    )


def _kubelet_state(row: Row) -> KubeletState:
    return KubeletState(image=get_text(row, "image"), nodename=get_text(row, "expectedNodename"))


def _kubernetes_node(row: Row) -> KubernetesNode:
    return KubernetesNode(
        name=get_text(row, "nodename"),
        ready=get_required_flag(row, "nodeReady"),
        unschedulable=get_required_flag(row, "unschedulable"),
    )


_MAINTENANCE = "maintenance"


class MaintenanceCalls(MachineCalls, NetworkCalls, DiskCalls, ConfigurationCalls):
    """`ports.talos.maintenance.Maintenance` over a wire."""

    async def is_in_maintenance(self, at: MaintenanceMachine) -> bool:
        try:
            status = await self._machine_status(at)
        except (Denied, NotFound):
            # Who asks for a certificate has a configuration; who has no stage yet still boots.
            return False
        return status.stage == _MAINTENANCE

    async def maintenance_version(self, at: MaintenanceMachine) -> TalosVersion:
        return await self._version(at)

    async def maintenance_uuid(self, at: MaintenanceMachine) -> UUID:
        return await self._system_uuid(at)

    async def maintenance_disks(self, at: MaintenanceMachine) -> tuple[Disk, ...]:
        return await self._disks(at)

    async def maintenance_links(self, at: MaintenanceMachine) -> tuple[Link, ...]:
        return await self._links(at)

    async def configure(
        self, at: MaintenanceMachine, application: ApplyConfigurationRequest
    ) -> ApplyConfigurationResult:
        return await self._applied(at, application)


class TalosApi(
    UpgradeCalls,
    MaintenanceCalls,
    KubernetesCalls,
    ClientConfigCalls,
    EtcdCalls,
    EventCalls,
):
    """`ports.Talos` over any wire."""
