"""What contradicts itself in a cluster is found, whatever it is."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from stockman_lab.pve.cluster_state import ClusterState, Firewall, Section
from stockman_lab.pve.invariants import broken
from stockman_lab.pve.storage import VolumeSnapshot

from lab.tests.populated import populated

DISK = "pve1/local-zfs:base-100-disk-0"


def _moved(state: ClusterState) -> None:
    state.volumes["pve2/local-zfs:elsewhere"] = state.volumes.pop(DISK)


def _homeless(state: ClusterState) -> None:
    volume = state.volumes.pop(DISK)
    volume.host = "pve9"
    state.volumes["pve9/local-zfs:base-100-disk-0"] = volume


def _negative(state: ClusterState) -> None:
    state.volumes[DISK].used = -1


def _orphaned(state: ClusterState) -> None:
    del state.volumes[DISK]


def _same_snapshots(state: ClusterState) -> None:
    state.volumes[DISK].snapshots = [VolumeSnapshot("one", 1, "", {})] * 2


def _too_full(state: ClusterState) -> None:
    state.volumes[DISK].used = 1 << 60


def _without_bytes(state: ClusterState) -> None:
    state.volumes[DISK].blob = "0" * 64


def _misfiled(state: ClusterState) -> None:
    state.guests[999] = state.guests[104]


def _nowhere(state: ClusterState) -> None:
    state.guests[104].node = "pve9"


def _powerless(state: ClusterState) -> None:
    state.hosts["pve1"].has_power = False


def _running_template(state: ClusterState) -> None:
    state.guests[100].status = "running"


def _paused(state: ClusterState) -> None:
    state.guests[104].paused = True


def _unused_twice(state: ClusterState) -> None:
    state.guests[104].config.values |= {"unused0": "thin:vm-104-x", "unused1": "thin:vm-104-x"}


def _diskless(state: ClusterState) -> None:
    state.guests[104].config.values["scsi5"] = "thin:vm-104-disk-77,size=1G"


def _strange_member(state: ClusterState) -> None:
    state.resource_pools["farm"].guests.append(998)


def _two_pools(state: ClusterState) -> None:
    state.resource_pools["farm"].guests.append(102)


def _strange_storage(state: ClusterState) -> None:
    state.resource_pools["farm"].storages.append("absent")


def _strange_resource(state: ClusterState) -> None:
    state.ha_resources["vm:997"] = Section("vm:997")


def _strange_firewall(state: ClusterState) -> None:
    state.guest_firewalls[996] = Firewall()


def _early(state: ClusterState) -> None:
    next(iter(state.tasks.values())).ended_at = 1.0


def _silent(state: ClusterState) -> None:
    next(iter(state.tasks.values())).exit_status = ""


BROKEN: dict[Callable[[ClusterState], None], str] = {
    _moved: "is kept as",
    _homeless: "is on a host that does not exist",
    _negative: "takes -1",
    _orphaned: "is a clone of base-100-disk-0, which is gone",
    _same_snapshots: "two snapshots of one name",
    _too_full: "holds",
    _without_bytes: "are gone",
    _misfiled: "guest 104 is kept as 999",
    _nowhere: "guest 104 is on pve9, which does not exist",
    _powerless: "runs on pve1, which has no power",
    _running_template: "guest 100 is a template and runs",
    _paused: "guest 104 is stopped and paused",
    _unused_twice: "one volume as several unused disks",
    _diskless: "scsi5 on thin:vm-104-disk-77, which does not exist",
    _strange_member: "pool farm has guest 998",
    _two_pools: "guest 102 is in two pools",
    _strange_storage: "pool farm has storage absent",
    _strange_resource: "vm:997 is a resource of HA",
    _strange_firewall: "guest 996 has a firewall",
    _early: "ended before it began",
    _silent: "ended without a word",
}


def test_nothing_is_wrong_with_a_cluster_that_was_made_through_its_api() -> None:
    assert list(broken(populated("9.1", seed=1).cluster)) == []


@pytest.mark.parametrize("breaking", BROKEN)
def test_every_contradiction_is_found(breaking: Callable[[ClusterState], None]) -> None:
    cluster = populated("9.1", seed=1).cluster

    breaking(cluster.state)

    assert any(BROKEN[breaking] in one for one in broken(cluster))


def test_a_volume_that_was_removed_behind_a_guest_is_excused() -> None:
    cluster = populated("9.1", seed=1).cluster
    _diskless(cluster.state)

    assert list(broken(cluster, {"thin:vm-104-disk-77"})) == []


def test_a_size_as_root_file_system_is_no_contradiction_as_the_real_one_writes_it_down() -> None:
    cluster = populated("9.1", seed=1).cluster
    cluster.state.guests[201].config.values["rootfs"] = "thin:1"

    assert list(broken(cluster)) == []
