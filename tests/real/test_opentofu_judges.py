"""OpenTofu with the provider of bpg makes, changes and removes everything it knows, in the lab."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from stockman.lab.core.saved import plain
from stockman.lab.images.system_archive import system_archive
from stockman.lab.pve.cluster_state import ClusterState
from stockman.lab.pve.schema.schema import PROFILES
from tests.lab.populated import TEMPLATE, image
from tests.real.images_served import serve_files
from tests.real.served import served
from tests.real.tofu import Tofu
from tools.pytest_plugin import RealTool

MACHINE = "proxmox_virtual_environment_vm.alone"
BOX = "proxmox_virtual_environment_container.box"
EXISTING = {
    "proxmox_virtual_environment_pool.farm": "farm",
    "proxmox_virtual_environment_role.keeper": "Keeper",
    "proxmox_storage_directory.shelf": "shelf",
    "proxmox_network_linux_bridge.storage": "pve1:vmbr62",
    "proxmox_hardware_mapping_pci.gpu": "gpu",
    "proxmox_haresource.node": "vm:320",
}
"""What is taken over as if it had been there before: by address, how the provider calls it."""
PASSING = frozenset(
    {"tasks", "cfs_version", "version", "storage_locks", "removed_storages", "next_pid"}
)
"""What may be another after everything was taken back."""
WRITTEN_ANEW = frozenset({"interfaces"})
"""Of which only names are compared: a file that is written again has its defaults spelled out."""


@dataclass(slots=True)
class Bench:
    """OpenTofu and the cluster that it works on."""

    tofu: Tofu
    cluster: ClusterState


@pytest.fixture(params=PROFILES)
def bench(request: pytest.FixtureRequest, tmp_path: Path, real_tool: RealTool) -> Iterator[Bench]:
    profile = str(request.param)
    disk = image()
    files = {"linux.qcow2": disk, TEMPLATE: system_archive("debian", "12")}
    scratch = tmp_path / "lab"
    scratch.mkdir()
    with serve_files(files) as images, served(scratch, profile) as lab:
        (cluster,) = lab.world.state.clusters.values()
        tofu = Tofu(
            program=real_tool("tofu"),
            provider=real_tool("terraform-provider-proxmox"),
            folder=tmp_path / "configuration",
            lab=lab,
            variables={
                "images": images,
                "checksum": hashlib.sha256(disk).hexdigest(),
                "rules": "true" if profile.startswith("9") else "false",
            },
        )
        tofu.prepare()
        yield Bench(tofu, cluster)


def test_what_is_made_is_what_was_asked_for_and_goes_without_a_trace(bench: Bench) -> None:
    before = _lasting(bench.cluster)

    bench.tofu.apply()
    assert bench.tofu.no_changes() == ""
    assert {one.node for one in bench.cluster.guests.values()} == {"pve1", "pve2", "pve3"}

    changes = bench.tofu.plan(memory="768", note="changed")
    assert changes[MACHINE] == ["update"]
    assert {tuple(one) for one in changes.values()} == {("update",)}
    bench.tofu.apply()
    assert bench.tofu.no_changes() == ""
    assert bench.cluster.guests[300].config.values["memory"] == "768"

    assert bench.tofu.plan(box_storage="thin")[BOX] == ["delete", "create"]
    bench.tofu.apply()
    assert bench.tofu.no_changes() == ""
    assert bench.cluster.guests[400].config.values["rootfs"].startswith("thin:")

    for address, identity in EXISTING.items():
        bench.tofu.forget(address)
        bench.tofu.take_over(address, identity)
    assert bench.tofu.no_changes() == ""

    bench.tofu.destroy()
    assert _differences(before, _lasting(bench.cluster)) == []


def _lasting(cluster: ClusterState) -> object:
    """What of a cluster somebody would notice."""
    return _without(plain(cluster))


def _without(value: object) -> object:
    """A state without what passes, and without folders that hold nothing."""
    if not isinstance(value, dict):
        return value
    kept = {
        name: sorted(item or ()) if name in WRITTEN_ANEW else _without(item)
        for name, item in value.items()
        if name not in PASSING
    }
    return {name: item for name, item in kept.items() if item not in ({}, [])}


def _differences(before: object, after: object, where: str = "") -> list[str]:
    """Where two states differ."""
    if not isinstance(before, dict) or not isinstance(after, dict):
        return [] if before == after else [f"{where}: {before!r} became {after!r}"]
    return [
        one
        for name in sorted(before.keys() | after.keys())
        for one in _differences(before.get(name), after.get(name), f"{where}/{name}")
    ]
