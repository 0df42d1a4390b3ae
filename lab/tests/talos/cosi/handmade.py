"""Machines made by hand: a cluster of three that runs, and one that waits for a configuration."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from typing import Any, cast

import yaml
from stockman_lab.core.dice import Dice
from stockman_lab.core.faults import Fault, Faults, Point
from stockman_lab.factory.schematics import schematic_of
from stockman_lab.factory.state import FactoryState
from stockman_lab.guest.network import Pools
from stockman_lab.guest.view import DiskView, GuestView, SmbiosView
from stockman_lab.images.facts import ImageFacts
from stockman_lab.talos.disk import EPHEMERAL, SD_BOOT, STATE, TalosDisk
from stockman_lab.talos.fleet import Fleet, KubernetesSide
from stockman_lab.talos.machine import Machine
from stockman_lab.talos.services.table import CONFIGURED, EARLY, LATE
from stockman_lab.talos.state import (
    AddressState,
    LinkState,
    MachineState,
    NetworkState,
    RouteState,
    Service,
    ServiceEvent,
    Stage,
)

from lab.tests.talos.api.pretended import TODAY, PretendedApi, cluster_authority
from stockman.crypto.pem import CertificateAndKey

NOW = 1_767_225_600.0
MINORS = ("1.11", "1.12", "1.13", "1.14")
PATCHES = {"1.11": "5", "1.12": "1", "1.13": "9", "1.14": "1"}
GIB = 1 << 30
CLUSTER_ID = base64.b64encode(b"c" * 32).decode()
_KUBERNETES = {"1.11": "1.34.1", "1.12": "1.35.0", "1.13": "1.36.2", "1.14": "1.37.0"}


@dataclass
class Around:
    """What surrounds machines, as far as resources ask for it."""

    faults: Faults = field(default_factory=Faults)
    dice: Dice = field(default_factory=lambda: Dice(1))


class HandMadeSide:
    """A Kubernetes that nobody works in."""

    def notice(self, machine: Machine) -> None:
        del machine

    def served(self, machine: Machine) -> None:
        del machine

    def drain(self, machine: Machine) -> bool:
        del machine
        return False

    def listed(self, machine: Machine, plural: str) -> list[dict[str, object]]:
        del machine, plural
        return []

    def manifests(self, machine: Machine) -> dict[str, list[dict[str, object]]]:
        named = {"name": f"of-{machine.hostname}", "namespace": "kube-system"}
        return {"11-kube-config": [{"apiVersion": "v1", "kind": "ConfigMap", "metadata": named}]}


class HandMadeLand:
    """Machines side by side."""

    def __init__(self) -> None:
        self.now = NOW
        self.machines: list[HandMade] = []
        self.factory = FactoryState()
        self.around = Around()
        self.kubernetes: KubernetesSide = HandMadeSide()

    def group(self, machine: Machine) -> list[Machine]:
        return [one for one in self.machines if one is machine or one.state.config]

    def members(self, machine: Machine) -> list[Machine]:
        return self.group(machine)

    def controllers(self, machine: Machine) -> list[Machine]:
        return [one for one in self.group(machine) if one.is_controlplane]

    def schematic(self, schematic_id: str) -> object:
        return schematic_of(self.factory, schematic_id)

    def disk(self, machine: Machine, slot: str) -> DiskView | None:
        return machine.view.disk(slot)

    def machine_at(self, text: str) -> HandMade | None:
        return next(
            (
                machine
                for machine in self.machines
                if text == machine.hostname or text in machine.addresses
            ),
            None,
        )

    def fault(self, point: Point, facts: Mapping[str, object]) -> Fault | None:
        del point, facts
        return None


class HandMade(Machine):
    """A machine whose virtual machine is told, not found."""

    authority: CertificateAndKey = cluster_authority()
    seed = 1
    today: datetime = TODAY

    def __init__(self, land: HandMadeLand, state: MachineState, view: GuestView) -> None:
        super().__init__(cast("Fleet", land), state)
        self._view = view
        self.served: PretendedApi | None = PretendedApi(self)  # type: ignore[arg-type]

    @property
    def api(self) -> Any:  # pretended, not made of its configuration
        return self.served

    @property
    def is_on(self) -> bool:
        return True

    @property
    def view(self) -> GuestView:
        return self._view


def handmade_land(minor: str = "1.13", first: str = "127.51.0.1") -> HandMadeLand:
    """Two machines of the control plane and a worker, all of them up."""
    hand_made_land = HandMadeLand()
    start, _, last = first.rpartition(".")
    for number, role in enumerate(("controlplane", "controlplane", "worker")):
        address = f"{start}.{int(last) + number}"
        name = f"{'ctrl' if role == 'controlplane' else 'work'}-{number + 1}"
        hand_made_land.machines.append(running_machine(hand_made_land, minor, name, address, role))
    return hand_made_land


def running_machine(
    hand_made_land: HandMadeLand, minor: str, name: str, address: str, role: str = "controlplane"
) -> HandMade:
    """A machine that booted, and all of whose services run."""
    version = f"v{minor}.{PATCHES[minor]}"
    disk = DiskView(slot="scsi0", size=32 * GIB, serial="root")
    talos = TalosDisk(disk)
    empty = next(iter(hand_made_land.factory.schematics))
    facts = ImageFacts(platform="nocloud", version=version, schematic=empty, virtual_size=0)
    talos.install(facts, SD_BOOT)
    talos.make(STATE)
    talos.make(EPHEMERAL)
    talos.config = configuration(minor, name, address, role)
    talos.write_meta(10, b"addresses: []\n")
    if role == "controlplane":
        talos.write_etcd({"cluster": "one", "member": "8e9e05c52164694d"})
    state = MachineState(cluster="meadow", vmid=100 + len(hand_made_land.machines), name=name)
    _describe(state, version, address, name)
    state.config, state.stage, state.api = talos.config, Stage.RUNNING, "secured"
    state.schematic, state.slot, state.system_disk = empty, "A", "scsi0"
    state.platform_config = {"platform": "nocloud", "hostname": name, "instanceId": "i-1"}
    state.services = {one.id: _service(one.id) for one in (*EARLY, *CONFIGURED, *LATE)}
    if role == "worker":
        del state.services["etcd"], state.services["trustd"]
    state.kubernetes.static_pods_ready_at = NOW - 100 if role == "controlplane" else None
    state.kubernetes.registered = state.kubernetes.node_ready = True
    view = _view([disk, DiskView(slot="virtio1", size=100 * GIB, serial="data")])
    return HandMade(hand_made_land, state, view)


def waiting_machine(hand_made_land: HandMadeLand, minor: str, address: str) -> HandMade:
    """A machine in maintenance."""
    state = MachineState(cluster="meadow", vmid=200 + len(hand_made_land.machines), name="new")
    _describe(state, f"v{minor}.{PATCHES[minor]}", address, "talos-abc-def")
    state.stage, state.api = Stage.MAINTENANCE, "maintenance"
    state.services = {one.id: _service(one.id) for one in EARLY}
    machine = HandMade(hand_made_land, state, _view([DiskView(slot="scsi0", size=32 * GIB)]))
    machine.served = PretendedApi(machine, "maintenance")  # type: ignore[arg-type]
    return machine


def _describe(state: MachineState, version: str, address: str, name: str) -> None:
    state.node, state.boot, state.version, state.platform = "pve1", 1, version, "nocloud"
    state.cmdline = ["talos.platform=nocloud", "console=ttyS0", "module.sig_enforce=1"]
    state.boot_id, state.uuid = "4d5c2a0e-1111-4222-8333-444455556666", "uuid-of-the-machine"
    state.booted_at = state.kernel_at = NOW - 3600
    state.cores, state.memory, state.is_time_synced = 4, 8 * GIB, True
    mac = "bc:24:11:00:00:01"
    state.network = NetworkState(
        hostname=name,
        domain="example.org",
        links=[
            LinkState("lo", 1),
            LinkState("eth0", 2, mac=mac, bus_path="0000:00:12.0", nic=0, driver="virtio_net"),
            LinkState("eth0.62", 3, kind="vlan", mac=mac, parent="eth0", vlan=62),
            LinkState("bond0", 4, kind="bond", mac=mac, bond_mode="802.3ad"),
        ],
        addresses=[
            AddressState(f"{address}/24", "eth0"),
            AddressState("10.42.62.1/24", "eth0.62"),
            AddressState("fd00:66::5/64", "eth0"),
        ],
        routes=[RouteState("", "127.51.0.254", "eth0"), RouteState("", "fd00:66::1", "eth0", 2048)],
        resolvers=["10.42.0.53"],
        search_domains=["example.org"],
        time_servers=["time.example.org"],
    )


def _service(name: str) -> Service:
    healthy = None if name == "dashboard" else True
    events = [ServiceEvent("Running", "Started", NOW - 3000)]
    return Service(name, "Running", events, healthy)


def _view(disks: list[DiskView]) -> GuestView:
    return GuestView(
        vmid=100,
        cores=4,
        memory=8 * GIB,
        network=Pools(),
        disks=disks,
        smbios=SmbiosView(uuid="uuid-of-the-machine", serial="h=1"),
    )


@cache
def configuration(minor: str, name: str, address: str, role: str) -> bytes:
    """A configuration as it is generated for a minor, small."""
    kubernetes = _KUBERNETES[minor]
    pair = cluster_authority()
    crt, key = _encoded(pair.crt), _encoded(pair.key.reveal())
    is_control = role == "controlplane"
    own = {"crt": crt, "key": key if is_control else ""}
    cluster: dict[str, object] = {
        "id": CLUSTER_ID,
        "secret": base64.b64encode(b"s" * 32).decode(),
        "controlPlane": {"endpoint": f"https://{address}:6443"},
        "clusterName": "meadow",
        "network": {
            "dnsDomain": "cluster.local",
            "podSubnets": ["10.244.0.0/16"],
            "serviceSubnets": ["10.96.0.0/12"],
        },
        "token": f"abcdef.{'0' * 16}",
        "ca": own,
        "discovery": {"enabled": True, "registries": {"service": {}}},
    }
    if is_control:
        cluster |= {
            "aggregatorCA": own,
            "serviceAccount": {"key": key},
            "secretboxEncryptionSecret": base64.b64encode(b"b" * 32).decode(),
            "apiServer": {
                "image": f"registry.example.org/kube-apiserver:v{kubernetes}",
                "extraArgs": {"v": "2"},
            },
            "controllerManager": {
                "image": f"registry.example.org/kube-controller-manager:v{kubernetes}"
            },
            "scheduler": {"image": f"registry.example.org/kube-scheduler:v{kubernetes}"},
            "proxy": {"image": f"registry.example.org/kube-proxy:v{kubernetes}"},
            "etcd": {"ca": own},
        }
    machine: dict[str, object] = {
        "type": role,
        "token": f"abcdef.{'0' * 16}",
        "ca": own,
        "kubelet": {
            "image": f"registry.example.org/kubelet:v{kubernetes}",
            "extraArgs": {"rotate-server-certificates": "true"},
        },
        "network": {"hostname": name},
        "install": {"disk": "/dev/sda"},
        "sysctls": {"net.core.somaxconn": "65535"},
        "kernel": {"modules": [{"name": "br_netfilter"}]},
        "nodeLabels": {"example.org/zone": "a"},
        "features": {"kubePrism": {"enabled": True, "port": 7445}},
    }
    documents: list[object] = [
        {"version": "v1alpha1", "machine": machine, "cluster": cluster},
        {
            "apiVersion": "v1alpha1",
            "kind": "UserVolumeConfig",
            "name": "data",
            "provisioning": {"diskSelector": {"match": "!system_disk"}, "minSize": "10GiB"},
        },
        {
            "apiVersion": "v1alpha1",
            "kind": "WatchdogTimerConfig",
            "device": "/dev/watchdog0",
            "timeout": "2m0s",
        },
    ]
    return yaml.safe_dump_all(documents, sort_keys=False).encode()


def _encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()
