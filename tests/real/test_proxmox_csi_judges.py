"""The storage driver for Kubernetes on Proxmox VE makes, attaches, grows and deletes a volume."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
import yaml
from stockman_lab.pve.guest_rows import PVESTATD_SECONDS
from stockman_lab.pve.schema.schema import PROFILES
from stockman_lab.servers.memory import MemoryClient
from stockman_lab.testing.thread import ProxmoxLab

from lab.tests.worlds import NAME
from tests.real.served import served
from tests.real.storage_driver import storage_driver
from tools.pytest_plugin import RealTool

MACHINE = 100
GIB = 1 << 30


@pytest.mark.parametrize("profile", PROFILES)
def test_a_volume_lives_and_dies(tmp_path: Path, real_tool: RealTool, profile: str) -> None:
    with served(tmp_path, profile) as lab:
        lab.run(lambda: _running_machine(lab))
        lab.advance(PVESTATD_SECONDS)  # the driver looks for machines in the list of resources
        kubeconfig = tmp_path / "kube.yaml"
        kubeconfig.write_text(yaml.safe_dump(_NO_KUBERNETES))
        program = real_tool("proxmox-csi-controller")
        with storage_driver(lab, NAME, tmp_path, program, kubeconfig) as socket:
            found = subprocess.run(
                [
                    *(str(real_tool("check-csi")), f"unix://{socket}", NAME, "pve1"),
                    *("local-zfs", f"worker-1/{MACHINE}"),
                ],
                capture_output=True,
                text=True,
                timeout=150,
                check=False,
            )
        assert found.stderr == ""
        seen = json.loads(found.stdout)
        (cluster,) = lab.world.state.clusters.values()

        assert seen["driver"] == "csi.proxmox.sinextra.dev"
        assert seen["volume"] == seen["again"] == f"{NAME}/pve1/local-zfs/vm-9999-pvc-0001"
        assert (seen["capacity"], seen["bytes"], seen["grown"]) == (True, GIB, 2 * GIB)
        assert seen["device"]["DevicePath"] == "/dev/disk/by-id/wwn-0x5056432d49443031"
        assert "unused0" not in cluster.guests[MACHINE].config.values
        assert [volume.id for volume in cluster.volumes.values()] == ["local-zfs:vm-100-disk-0"]


def _running_machine(lab: ProxmoxLab) -> None:
    door = MemoryClient(lab.world, NAME)
    upid = door.post(
        "/nodes/pve1/qemu",
        vmid=MACHINE,
        name="worker-1",
        scsihw="virtio-scsi-single",
        scsi0="local-zfs:1",
        start=1,
    )
    assert door.done(upid) == "OK"


_NO_KUBERNETES = {
    "apiVersion": "v1",
    "kind": "Config",
    "current-context": "none",
    "clusters": [{"name": "none", "cluster": {"server": "https://127.0.0.1:1"}}],
    "contexts": [{"name": "none", "context": {"cluster": "none", "user": "none"}}],
    "users": [{"name": "none", "user": {}}],
}
