"""A Talos machine as the kubelet on it needs it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import TYPE_CHECKING

from stockman_lab.core.faults import Effect, Fault, Point
from stockman_lab.core.turns import is_at_work
from stockman_lab.kube.nodes.host import CloudWord, Description, PullFailed
from stockman_lab.kube.objects import Object, metadata_of
from stockman_lab.talos.cosi.facts import nodename
from stockman_lab.talos.status import has_static_pods

if TYPE_CHECKING:
    from stockman_lab.talos.cosi.registry import Contents
    from stockman_lab.talos.machine import Machine

_INSTALLER = "ghcr.io/siderolabs/installer:v1.13.9"
"""The image that the time of a pull is known of; smaller ones take less."""
_STORE = "k8s.io"
_MIB = 1 << 20
_KIB = 1 << 10
_RESERVED_CPU = 50
_RESERVED_MEMORY = {True: 512 * _MIB, False: 384 * _MIB}
_EVICTED_BELOW = 100 * _MIB
_RESERVED_DISK = 256 * _MIB
_MOST_PODS = 110
_NVIDIA = "0x10de"
_STARTED = "Started task"
_NOT_HEALTHY = "PLEG is not healthy: pleg was last seen active 3m12.457s ago; threshold is 3m0s"


class TalosHost:
    """One machine."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine

    @property
    def name(self) -> str:
        return nodename(self.machine)

    @property
    def is_alive(self) -> bool:
        machine = self.machine
        kubelet = machine.service("kubelet")
        return (
            machine.state.is_on
            and machine.config is not None
            and kubelet is not None
            and kubelet.is_running
            and kubelet.is_healthy is True
            and machine.is_reachable
            and not self._is_struck(Effect.HANG)
        )

    @property
    def boot(self) -> str:
        return str(self.machine.state.boot)

    @property
    def start(self) -> str:
        kubelet = self.machine.service("kubelet")
        events = kubelet.events if kubelet is not None else []
        begun = [event.at for event in events if event.message.startswith(_STARTED)]
        return f"{self.boot}/{begun[-1] if begun else 0.0}"

    @property
    def complaint(self) -> str:
        fault = self._is_struck(Effect.FAIL)
        if fault is None or not is_at_work(fault, self.machine.now):
            return ""
        return fault.message or _NOT_HEALTHY

    def _is_struck(self, effect: Effect) -> Fault | None:
        fault = self.machine.fault_lasts(Point.NODE, {})
        return fault if fault is not None and fault.effect is effect else None

    @property
    def address(self) -> str:
        return self.machine.address

    @property
    def gpus(self) -> int:
        from stockman_lab.talos.extensions import driver_of

        machine = self.machine
        if machine.land.guest(machine) is None:
            return 0
        devices = (item for item in machine.view.pci if item.vendor == _NVIDIA)
        return sum(1 for device in devices if driver_of(machine, device))

    def description(self) -> Description:
        """What the machine is."""
        from stockman_lab.talos.cosi.kinds import kubernetes_node

        machine, config = self.machine, self.machine.config
        if config is None:
            return Description()
        own = {
            "beta.kubernetes.io/arch": machine.state.architecture,
            "beta.kubernetes.io/os": "linux",
            "kubernetes.io/arch": machine.state.architecture,
            "kubernetes.io/hostname": self.name,
            "kubernetes.io/os": "linux",
        }
        labels = _values(kubernetes_node.node_label_specs(machine))
        taints = [
            {name: value for name, value in content.items() if value}
            for content in _contents(kubernetes_node.node_taint_specs(machine))
        ]
        capacity, allocatable = self._room()
        waits = config.kubernetes.external_cloud_provider
        return Description(
            labels={**own, **labels},
            annotations=_values(kubernetes_node.node_annotation_specs(machine)),
            taints=tuple(taints),
            addresses=(("InternalIP", machine.address), ("Hostname", self.name)),
            capacity=capacity,
            allocatable=allocatable,
            info=self._info(),
            provider_id=self._provider_id(),
            waits_for_cloud=waits,
            pod_subnets=config.kubernetes.pod_subnets,
        )

    def _room(self) -> tuple[dict[str, str], dict[str, str]]:
        state, config = self.machine.state, self.machine.config
        memory = state.memory - state.memory // 64 - 60 * _MIB
        disk = self._disk_size()
        told = config.kubelet.config if config is not None else {}
        pods = str(told.get("maxPods", _MOST_PODS))
        huge = {"hugepages-1Gi": "0", "hugepages-2Mi": "0"}
        left = memory - _RESERVED_MEMORY[self.machine.is_controlplane] - _EVICTED_BELOW
        capacity = {
            "cpu": str(state.cores),
            "ephemeral-storage": f"{disk // _KIB}Ki",
            **huge,
            "memory": f"{memory // _KIB}Ki",
            "pods": pods,
        }
        allocatable = {
            "cpu": f"{state.cores * 1000 - _RESERVED_CPU}m",
            "ephemeral-storage": str(max(disk * 9 // 10 - _RESERVED_DISK, 0)),
            **huge,
            "memory": f"{max(left, 0) // _KIB}Ki",
            "pods": pods,
        }
        return capacity, allocatable

    def _disk_size(self) -> int:
        machine = self.machine
        disk = machine.land.disk(machine, machine.state.system_disk)
        return max(disk.size - (2 << 30), 0) if disk is not None else 0

    def _info(self) -> dict[str, str]:
        from stockman_lab.talos.builds import build_of

        machine, config = self.machine, self.machine.config
        build = build_of(machine)
        image = config.kubelet.image if config is not None else ""
        return {
            "architecture": machine.state.architecture,
            "bootID": machine.state.boot_id,
            "containerRuntimeVersion": f"containerd://{build.containerd}",
            "kernelVersion": build.kernel,
            "kubeProxyVersion": "",
            "kubeletVersion": image.partition("@")[0].rpartition(":")[2],
            "machineID": machine.state.uuid.replace("-", ""),
            "operatingSystem": "linux",
            "osImage": f"Talos ({machine.version})",
            "systemUUID": machine.state.uuid,
        }

    def in_proxmox(self, configuration: str) -> CloudWord | None:
        """What the controller of Proxmox VE says of the machine. None: it is not let in."""
        from stockman_lab.kube.nodes.proxmox_cloud import word_of

        return word_of(self.machine, configuration)

    def _provider_id(self) -> str:
        config = self.machine.config
        provider_id = config.kubelet.arguments.get("provider-id", ()) if config is not None else ()
        return next(iter(provider_id), "") or str(
            self.machine.state.platform_config.get("providerId", "") or ""
        )

    def pulled(self, image: str) -> float:
        """Seconds until an image is there; raises `PullFailed`.

        What nobody published in the registry of the world is believed to be public elsewhere.
        """
        from stockman_lab.talos import pulling
        from stockman_lab.talos.state import StoredImage

        machine = self.machine
        store = machine.state.images.setdefault(_STORE, {})
        if image in store:
            return 0.0
        share = pulling.believable_size(image) / pulling.believable_size(_INSTALLER)
        seconds = machine.seconds("pull") * min(share, 1.0)
        try:
            seconds += pulling.pull(machine, image, _STORE).seconds
        except pulling.PullFailed as failed:
            if not str(failed).endswith("not found") or self._registry_is_ill():
                raise PullFailed(str(failed)) from None
            size = pulling.believable_size(image)
            store[image] = StoredImage(image, _digest(image), size, machine.now)
            pulling.keep(machine)
        return seconds

    def _registry_is_ill(self) -> bool:
        listed = self.machine.land.around.faults.listed
        return any(item.point is Point.REGISTRY for item in listed)

    def static_pods(self) -> list[Object]:
        """The control plane's pods, once they run, and those of the configuration."""
        from stockman_lab.talos.cosi.kinds.kubernetes_control_plane import static_pods

        machine = self.machine
        if machine.is_controlplane and not has_static_pods(machine):
            return []
        return _contents(static_pods(machine))

    def trouble(self, action: str, pod: Object, image: str = "") -> Fault | None:
        metadata = metadata_of(pod)
        facts = {
            "action": action,
            "namespace": metadata.get("namespace", ""),
            "pod": metadata.get("name", ""),
            "image": image,
        }
        return self.machine.fault(Point.POD, facts)

    def noted(self, *, is_there: bool, is_ready: bool, is_closed: bool) -> None:
        """What became of its Node: the machine itself knows it from the API."""
        state = self.machine.state.kubernetes
        before = (state.registered, state.node_ready, state.cordoned)
        if before == (is_there, is_ready, is_closed):
            return
        state.registered, state.node_ready, state.cordoned = is_there, is_ready, is_closed
        self.machine.land.settle(self.machine)


def _contents(contents: Contents) -> list[Object]:
    return [dict(item) for item in contents.values() if isinstance(item, Mapping)]


def _values(contents: Contents) -> dict[str, str]:
    return {str(content["key"]): str(content["value"]) for content in _contents(contents)}


def _digest(image: str) -> str:
    return f"sha256:{hashlib.sha256(image.encode()).hexdigest()}"
