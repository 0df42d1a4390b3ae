"""go-proxmox, which cluster controllers are made with, walks through the lab as they do."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from stockman_lab.pve.schema.schema import PROFILES

from lab.tests.populated import image
from tests.real.images_served import serve_files
from tests.real.served import served
from tools.pytest_plugin import RealTool

IMAGE = "linux.qcow2"


@pytest.fixture(scope="module", params=PROFILES)
def seen(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, real_tool: RealTool
) -> Iterator[dict[str, Any]]:
    scratch: Path = tmp_path_factory.mktemp("lab")
    with serve_files({IMAGE: image()}) as images, served(scratch, request.param) as lab:
        found = subprocess.run(
            [
                *(str(real_tool("check-go-proxmox")), f"{lab.endpoint}/api2/json"),
                *(str(lab.ca), lab.token_id, f"{images}/{IMAGE}"),
            ],
            env={"PATH": os.environ["PATH"], "PROXMOX_TOKEN_SECRET": lab.token_secret},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert found.stderr == ""
        (cluster,) = lab.world.state.clusters.values()
        yield {
            **json.loads(found.stdout),
            "profile": cluster.profile,
            "left": sorted(volume.id for volume in cluster.volumes.values()),
        }


def test_it_knows_the_version_and_the_hosts(seen: dict[str, Any]) -> None:
    assert seen["version"].startswith(seen["profile"])
    assert seen["nodes"] == ["pve1", "pve2", "pve3"]


def test_a_volume_is_made_attached_grown_and_deleted_as_the_storage_driver_does_it(
    seen: dict[str, Any],
) -> None:
    attached = "local-zfs:vm-9999-pvc-1,backup=0,iothread=1,size={},wwn=0x5056432d49443031"

    assert seen["storage"] == {
        "available": 3,
        "volume": "local-zfs:vm-9999-pvc-1",
        "attached": attached.format("1G"),
        "grown": attached.format("2G"),
        "unused": 0,
        "left": 0,
    }


def test_a_machine_is_found_as_the_cloud_controller_manager_looks_for_it(
    seen: dict[str, Any],
) -> None:
    controller = seen["controller"]

    assert (controller["name"], controller["status"], controller["uuid"]) == (
        "worker-1",
        "running",
        True,
    )
    assert controller["addresses"][0] == "127.66.1.100"


def test_groups_of_high_availability_are_known_on_8_and_gone_on_9(seen: dict[str, Any]) -> None:
    gone = "500 cannot index groups: ha groups have been migrated to rules"

    assert seen["controller"]["groups"] == (gone if seen["profile"] == "9.1" else "known")


def test_a_node_is_made_of_a_template_as_karpenter_does_it(seen: dict[str, Any]) -> None:
    karpenter = seen["karpenter"]

    assert karpenter.pop("disk").endswith(",iothread=1,size=5G")
    assert karpenter == {
        "hosts": 3,
        "bridges": ["vmbr0"],
        "template": True,
        "taken": True,
        "cores": 2,
        "memory": 1024,
        "pool": 1,
        "running": True,
    }


def test_a_machine_is_asked_and_deleted_as_cluster_api_does_it(seen: dict[str, Any]) -> None:
    cluster_api = seen["cluster_api"]

    assert (cluster_api["free"], cluster_api["memory"]) == (True, True)
    assert cluster_api["drive"].startswith("local:iso/user-data-1001.iso,media=cdrom")
    assert cluster_api["gone"].endswith("'nodes/pve1/qemu-server/1001.conf' does not exist")


def test_only_the_downloaded_image_is_left(seen: dict[str, Any]) -> None:
    assert seen["left"] == ["local:import/linux.qcow2"]
