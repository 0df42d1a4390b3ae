"""Directories of talhelper users, put together by chance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, TypeVar

import yaml

from tests.talos.machine.clusters import KUBERNETES, TALOS

T = TypeVar("T")


class Dice(Protocol):
    """What decides; the soak tests bring it."""

    def random(self) -> float: ...
    def randint(self, a: int, b: int) -> int: ...
    def choice(self, seq: Sequence[T]) -> T: ...
    def sample(self, population: Sequence[T], k: int) -> list[T]: ...


PATCHES: tuple[dict[str, Any], ...] = (
    {"machine": {"sysctls": {"vm.swappiness": "1", "net.core.somaxconn": "2"}}},
    {"machine": {"sysctls": {"vm.swappiness": "3"}}},
    {"machine": {"sysctls": {"vm.swappiness": {"$$patch": "delete"}}}},
    {"machine": {"kubelet": {"extraArgs": {"rotate-server-certificates": "true"}}}},
    {"machine": {"kubelet": {"nodeIP": {"validSubnets": ["127.66.0.0/24"]}}}},
    {"machine": {"kubelet": {"nodeIP": {"validSubnets": ["127.66.0.0/16"]}}}},
    {"machine": {"certSANs": ["127.0.0.1", "127.66.0.10"]}},
    {"machine": {"network": {"nameservers": ["127.66.0.2"]}}},
    {"machine": {"time": {"servers": ["162.159.200.1"]}}},
    {"machine": {"install": {"wipe": True}}},
    {"machine": {"install": {"disk": "/dev/sdz"}}},
    {"machine": {"nodeLabels": {"example.com/a": "b"}}},
    {"machine": {"kernel": {"modules": [{"name": "nbd"}]}}},
    {"machine": {"files": [{"path": "/var/a", "op": "create", "content": "a $${b}"}]}},
    {"machine": {"features": {"kubePrism": {"enabled": False}}}},
    {"cluster": {"proxy": {"disabled": True}}},
    {"cluster": {"network": {"cni": {"name": "none"}}}},
    {"cluster": {"network": {"podSubnets": ["10.42.0.0/16"]}}},
    {"cluster": {"discovery": {"enabled": False}}},
    {"cluster": {"externalCloudProvider": {"enabled": True}}},
    {"apiVersion": "v1alpha1", "kind": "WatchdogTimerConfig", "device": "/dev/watchdog0"},
    {"apiVersion": "v1alpha1", "kind": "KmsgLogConfig", "name": "k", "url": "tcp://127.66.0.9:5"},
)
OF_CONTROLLERS: tuple[dict[str, Any], ...] = (
    {"cluster": {"allowSchedulingOnControlPlanes": True}},
    {"cluster": {"coreDNS": {"disabled": True}}},
    {"cluster": {"apiServer": {"extraArgs": {"a": "b"}, "certSANs": ["x.example.com"]}}},
    {"cluster": {"apiServer": {"admissionControl": {"$$patch": "delete"}}}},
    {"cluster": {"etcd": {"advertisedSubnets": ["127.66.0.0/24"]}}},
)


def directory(dice: Dice, line: str) -> dict[str, str]:
    """One directory; the same dice make the same one."""
    config: dict[str, Any] = {
        "clusterName": "meadow",
        "talosVersion": f"v{TALOS[line]}",
        "kubernetesVersion": f"v{KUBERNETES[line]}",
        "endpoint": "https://127.66.0.10:6443",
        "nodes": [_node(dice, index) for index in range(dice.randint(1, 4))],
    }
    wishes = (
        ("cniConfig", {"name": dice.choice(["none", "flannel"])}),
        ("domain", "meadow.local"),
        ("allowSchedulingOnControlPlanes", True),
        ("additionalApiServerCertSans", ["api.example.com", "127.66.0.99"]),
        ("additionalMachineCertSans", ["api.example.com", "127.66.0.10"]),
        ("clusterPodNets", ["10.42.0.0/16"]),
        ("patches", _patches(dice, PATCHES)),
        ("controlPlane", {"patches": _patches(dice, (*PATCHES, *OF_CONTROLLERS))}),
        ("worker", {"patches": _patches(dice, PATCHES), "disableSearchDomain": True}),
    )
    config |= {key: value for key, value in wishes if dice.random() < 0.5}
    return {"talconfig.yaml": yaml.safe_dump(config, sort_keys=False)}


def _patches(dice: Dice, known: tuple[dict[str, Any], ...]) -> list[str]:
    return [yaml.safe_dump(patch) for patch in dice.sample(known, dice.randint(0, 4))]


def _node(dice: Dice, index: int) -> dict[str, Any]:
    controller = index == 0 or dice.random() < 0.3
    node: dict[str, Any] = {
        "hostname": f"n-{index}",
        "ipAddress": f"127.66.0.{21 + index}",
        "controlPlane": controller,
        "installDisk": "/dev/sda",
        "networkInterfaces": _links(dice, index, controller=controller),
    }
    wishes = (
        ("nodeLabels", {"example.com/rack": "a"}),
        ("nodeTaints", {"example.com/slow": "NoSchedule"}),
        ("nameservers", [dice.choice(["127.66.0.1", "127.66.0.2"])]),
        ("disableSearchDomain", True),
        ("certSANs", [f"n-{index}.example.com"]),
        ("kernelModules", [{"name": "zfs"}]),
        ("overridePatches", True),
        ("machineSpec", {"mode": "nocloud"}),
        ("patches", _patches(dice, (*PATCHES, *(OF_CONTROLLERS if controller else ())))),
    )
    return node | {key: value for key, value in wishes if dice.random() < 0.4}


def _links(dice: Dice, index: int, *, controller: bool) -> list[dict[str, Any]]:
    address = {
        "addresses": [f"127.66.0.{21 + index}/24"],
        "routes": [{"network": "0.0.0.0/0", "gateway": "127.66.0.1"}],
    }
    vip = {"vip": {"ip": "127.66.0.10"}} if controller and dice.random() < 0.8 else {}
    mac = {"hardwareAddr": f"bc:24:11:00:00:{21 + index}"}
    forms: tuple[dict[str, Any], ...] = (
        {"deviceSelector": mac, "dhcp": False, **address, **vip},
        {"deviceSelector": mac, "mtu": 9000, **address, **vip},
        {"deviceSelector": {**mac, "driver": "virtio*"}, **address, **vip},
        {"deviceSelector": mac, "vlans": [{"vlanId": 5, "dhcp": False, **address, **vip}]},
        {
            "interface": "bond0",
            "bond": {"mode": "active-backup", "deviceSelectors": [mac]},
            "mtu": 1500,
            **address,
            **vip,
        },
    )
    more: tuple[dict[str, Any], ...] = (
        {"interface": "eth5", "dhcp": True},
        {"interface": "eth6", "mtu": 1400, "addresses": [f"127.68.0.{index + 1}/24"]},
        {"deviceSelector": {"busPath": "00:1*"}, "mtu": 1600},
    )
    return [dice.choice(forms), *dice.sample(more, dice.choice([0, 0, 1, 2]))]
