"""`/nodes/NODE/apt`: packages of a host."""

from __future__ import annotations

from typing import ClassVar

from stockman_lab.pve.api.call import Call
from stockman_lab.pve.api.registry import endpoint
from stockman_lab.pve.releases import Release, release_of
from stockman_lab.pve.workers import Job, Work, register

_PATH = "/nodes/{node}/apt"


@register
class Refresh(Work):
    """Reads the lists of packages anew; there is nothing newer in them."""

    name: ClassVar[str] = "host.refresh-packages"

    def begin(self, job: Job) -> float:
        job.log("starting apt-get update")
        return job.cluster.around.dice.between(2.0, 6.0)


@endpoint("GET", f"{_PATH}/update")
def updates(call: Call) -> object:
    del call
    return []


@endpoint("POST", f"{_PATH}/update")
def refresh(call: Call) -> object:
    return call.start("aptupdate", "", Refresh.name, {})


@endpoint("GET", f"{_PATH}/versions")
def versions(call: Call) -> object:
    release = release_of(call.cluster.state.profile)
    kernel = call.node.kernel or release.kernel
    rows = [_row(name, version) for name, version in _packages(release).items()]
    rows[0]["RunningKernel"] = kernel
    rows[1]["ManagerVersion"] = f"{release.version}/{release.repoid}"
    return rows


def _packages(release: Release) -> dict[str, str]:
    major = release.release.partition(".")[0]
    return {
        "proxmox-ve": f"{release.release}.0",
        "pve-manager": release.version,
        f"proxmox-kernel-{release.kernel}-signed": release.kernel.removesuffix("-pve"),
        "corosync": "3.1.9-pve2",
        "libpve-access-control": f"{major}.0.3",
        "libpve-storage-perl": f"{major}.0.6",
        "lxc-pve": "6.0.5-1",
        "pve-cluster": f"{major}.0.6",
        "pve-container": f"{int(major) - 3}.0.9",
        "pve-firewall": f"{int(major) - 3}.0.3",
        "pve-ha-manager": f"{int(major) - 4}.0.4",
        "pve-qemu-kvm": f"{release.qemu}-1",
        "qemu-server": f"{major}.0.22",
    }


def _row(name: str, version: str) -> dict[str, object]:
    return {
        "Package": name,
        "Title": name,
        "Description": f"{name} package",
        "Version": version,
        "OldVersion": version,
        "Arch": "amd64",
        "Origin": "Proxmox",
        "Priority": "optional",
        "Section": "admin",
        "CurrentState": "Installed",
    }
