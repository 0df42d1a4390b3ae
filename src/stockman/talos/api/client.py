"""Calls for files that let clients in."""

from __future__ import annotations

import gzip
import io
import tarfile
import zlib

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
from stockman.talos.api.network import DiskCalls, NetworkCalls
from stockman.talos.api.resources import FileCalls, ResourceCalls, ResourceKind
from stockman.talos.api.upgrades import UpgradeCalls
from stockman.talos.records.kubernetes import KubeletState, KubernetesNode, StaticPod

_KUBECONFIG = f"{MACHINE}/Kubeconfig"
_LARGEST_KUBECONFIG = 1 << 20


class ClientConfigCalls(FileCalls):
    """Client files; only controllers issue them."""

    async def kubeconfig(self, node: MachineAddress) -> Secret:
        """A kubeconfig for an admin."""
        packed = await self._whole(_KUBECONFIG, node, {}, _LARGEST_KUBECONFIG)
        try:
            return Secret(_unpack_archive(packed), resolved=True)
        except InvalidAnswer as error:
            raise self._odd(_KUBECONFIG, node, str(error)) from None


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
    """What a machine knows of its Kubernetes."""

    async def static_pods(self, node: MachineAddress) -> tuple[StaticPod, ...]:
        """Pods of the control plane. Empty: there are none, as on workers."""
        return await self._resources(node, _PODS, _static_pod)

    async def kubelet(self, node: MachineAddress) -> KubeletState:
        """Image and name of the kubelet. `NotFound` where it is not set up yet."""
        return await self._resource(node, _KUBELET, "kubelet", _kubelet_state)

    async def kubernetes_node(self, node: MachineAddress) -> KubernetesNode:
        """The machine as Kubernetes sees it. `NotFound` where Kubernetes does not know it yet."""
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


class TalosClient(
    UpgradeCalls,
    NetworkCalls,
    DiskCalls,
    ConfigurationCalls,
    KubernetesCalls,
    ClientConfigCalls,
    EtcdCalls,
    EventCalls,
):
    """The client of the machines of one cluster, and of machines in maintenance.

    `node` is the address of the machine that a call is for; the endpoint that accepts the call
    passes it on. Each call is made once; only a read on a dead connection is repeated, once.
    Errors are `NotFound`, `Conflict` (`Locked`: another sequence runs), `Denied`, `Rejected`
    (`Unsupported`: this Talos does not know the call), `Unreachable`, `Refused` and, if the
    outcome of a change is unknown, `Uncertain`. An answer without a required field, or with
    contradicting ones, is `Rejected`.
    """
