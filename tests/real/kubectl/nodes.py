"""The machines that both clusters are made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from stockman_lab.core.faults import Fault
from stockman_lab.kube.nodes.host import Description
from stockman_lab.kube.nodes.pod_running import Outcome

POD_NETWORK = "10.244.0.0/16"
SERVICE_NETWORK = "10.43.0.0/16"
ENDS = "ends"
"""A label of pods: `well` and `badly` say how their programs end, all others go on."""
_ROLE = "node-role.kubernetes.io/control-plane"
_ROOM = {"cpu": "4", "ephemeral-storage": "20Gi", "memory": "8Gi", "pods": "110"}
_USABLE = {"cpu": "3950m", "ephemeral-storage": "18Gi", "memory": "7Gi", "pods": "110"}


@dataclass(frozen=True)
class Machine:
    """One of them, as its kubelet describes it."""

    name: str
    number: int
    zone: str
    is_control_plane: bool = False

    @property
    def address(self) -> str:
        return f"127.66.0.{self.number}"

    @property
    def labels(self) -> dict[str, str]:
        role = {_ROLE: ""} if self.is_control_plane else {}
        return {
            "kubernetes.io/arch": "amd64",
            "kubernetes.io/hostname": self.name,
            "kubernetes.io/os": "linux",
            **role,
            "topology.kubernetes.io/zone": self.zone,
        }

    @property
    def taints(self) -> tuple[dict[str, Any], ...]:
        return ({"key": _ROLE, "effect": "NoSchedule"},) if self.is_control_plane else ()

    @property
    def info(self) -> dict[str, str]:
        return {
            "architecture": "amd64",
            "bootID": f"0000000{self.number}-0000-4000-8000-000000000000",
            "containerRuntimeVersion": "containerd://2.1.4",
            "kernelVersion": "6.12.40-talos",
            "kubeProxyVersion": "",
            "kubeletVersion": "v1.36.3",
            "machineID": f"{self.number:032x}",
            "operatingSystem": "linux",
            "osImage": "Talos (v1.13.9)",
            "systemUUID": f"0000000{self.number}-0000-4000-8000-000000000001",
        }

    @property
    def addresses(self) -> tuple[tuple[str, str], ...]:
        return (("InternalIP", self.address), ("Hostname", self.name))

    def registered(self) -> dict[str, Any]:
        """Its Node, as its kubelet creates it."""
        addresses = [{"type": kind, "address": one} for kind, one in self.addresses]
        managed = {"volumes.kubernetes.io/controller-managed-attach-detach": "true"}
        return {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": self.name, "labels": self.labels, "annotations": managed},
            "spec": {"taints": list(self.taints)} if self.taints else {},
            "status": {
                "addresses": addresses,
                "allocatable": _USABLE,
                "capacity": _ROOM,
                "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}},
                "nodeInfo": self.info,
            },
        }

    # -- what the kubelets of the lab ask of a machine ---------------------------------------------

    is_alive = True
    boot = "1"
    start = "1"
    complaint = ""
    gpus = 0

    def description(self) -> Description:
        return Description(
            labels=self.labels,
            taints=self.taints,
            addresses=self.addresses,
            capacity=_ROOM,
            allocatable=_USABLE,
            info=self.info,
            pod_subnets=(POD_NETWORK,),
        )

    def in_proxmox(self, configuration: str) -> None:
        """Nothing: these machines are in no cloud."""

    def pulled(self, image: str) -> float:
        """No time: both clusters have all images."""
        del image
        return 0.0

    def static_pods(self) -> list[dict[str, Any]]:
        return []

    def trouble(self, action: str, pod: dict[str, Any], image: str = "") -> Fault | None:
        del action, pod, image
        return None

    def noted(self, *, is_there: bool, is_ready: bool, is_closed: bool) -> None:
        del is_there, is_ready, is_closed


MACHINES = (
    Machine("n1", 1, "north", is_control_plane=True),
    Machine("n2", 2, "south"),
    Machine("n3", 3, "south"),
)


class Machines:
    """All of them."""

    def host(self, name: str) -> Machine | None:
        return next((machine for machine in MACHINES if machine.name == name), None)

    def hosts(self) -> tuple[Machine, ...]:
        return MACHINES


def outcome(pod: dict[str, Any]) -> Outcome | None:
    """How the program of a pod ends in the lab."""
    label = (pod["metadata"].get("labels") or {}).get(ENDS)
    if label not in {"well", "badly"}:
        return None
    return Outcome(1.0, exit_code=0 if label == "well" else 1)
