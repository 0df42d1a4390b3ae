"""What is chosen for hosts: how many machines, where, on which storages."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stockman.model.errors import Refused
from stockman.planning.starter.draft import Draft, DraftOptions, build_draft, free_vmid_blocks
from stockman.planning.starter.observed import StarterHost
from stockman.planning.starter.sizing import free_memory
from tests.planning.starter.hosts import files, found, host, storage

VAST = (files(), storage(free=1 << 20))


def chosen(*hosts: StarterHost, preset: str | None = None) -> Draft:
    return build_draft(found(*hosts), DraftOptions(preset=preset))


def refusal(*hosts: StarterHost, preset: str | None = None) -> str:
    with pytest.raises(Refused) as caught:
        chosen(*hosts, preset=preset)
    problem = caught.value.problem
    return f"{problem.code}: {problem.what}; {problem.why}; {problem.fix}"


@pytest.mark.parametrize(
    ("count", "memory", "preset"),
    [
        (1, 64, "single"),
        (2, 64, "single"),
        (3, 64, "three-node"),
        (4, 64, "fifteen-node"),
        (4, 16, "three-node"),
        (6, 128, "fifteen-node"),
    ],
)
def test_the_number_of_hosts_and_their_memory_decide(count: int, memory: int, preset: str) -> None:
    hosts = [host(f"pve{number}", memory=memory) for number in range(1, count + 1)]

    assert chosen(*hosts).shape.preset == preset


def test_the_preset_of_the_user_goes_before() -> None:
    draft = chosen(host("pve1"), preset="three-node")

    assert draft.shape.controllers == 3
    assert draft.shape_why == "selected with --preset"


def test_a_single_machine_goes_where_most_memory_is_left() -> None:
    draft = chosen(host("pve1", promised=40), host("pve2"))

    assert draft.placing.hosts == ("pve2",)


def test_machines_shrink_to_what_a_host_has_left() -> None:
    draft = chosen(host("pve1", memory=16, promised=6))

    assert draft.placing.controller.memory == 6 * 1024


@given(
    memories=st.lists(st.integers(8, 512), min_size=1, max_size=8),
    preset=st.sampled_from(["single", "three-node", "fifteen-node"]),
)
def test_no_host_gets_more_than_it_has_left_unless_machines_are_at_their_least(
    memories: list[int], preset: str
) -> None:
    hosts = [host(f"pve{number}", memory=memory) for number, memory in enumerate(memories, start=1)]
    vast = [host(str(row.name), memory=row.memory // 1024, storages=VAST) for row in hosts]

    placing = chosen(*vast, preset=preset).placing

    kinds = [kind for kind in (placing.controller, placing.worker) if kind is not None]
    at_least = any(kind.memory == kind.least_memory for kind in kinds)
    for row in vast:
        on_host = [
            placing.size_of(machine) for machine in placing.machines if machine.host == row.name
        ]
        assert at_least or sum(size.memory for size in on_host) <= free_memory(row)
    controllers = {machine.host for machine in placing.machines if machine.is_controller}
    assert len(controllers) == min(
        len(hosts), sum(machine.is_controller for machine in placing.machines)
    )


def test_a_shared_storage_is_better_than_a_larger_one_of_each_host() -> None:
    hosts = [
        host(
            f"pve{number}",
            storages=(files(), storage(free=9000), storage("ceph", shared=True, kind="rbd")),
        )
        for number in (1, 2, 3)
    ]

    assert chosen(*hosts).storages.common == "ceph"


def test_a_storage_that_is_full_is_not_chosen() -> None:
    hosts = [
        host(
            f"pve{number}",
            storages=(files(), storage("a-full", free=5), storage("roomy")),
        )
        for number in (1, 2, 3)
    ]

    assert chosen(*hosts).storages.common == "roomy"


def test_disks_shrink_to_the_room_that_there_is() -> None:
    draft = chosen(host("pve1", storages=(files(), storage(free=50))))

    assert draft.storages.controller_disk == 40


def test_hosts_without_a_storage_in_common_have_one_each() -> None:
    draft = chosen(host("pve1"), host("pve2", storages=(files(), storage("zfs"))), host("pve3"))

    assert draft.storages.disks == {"pve1": "local-lvm", "pve2": "zfs", "pve3": "local-lvm"}
    assert draft.storages.names == ("local-lvm", "zfs", "local")


def test_a_host_that_can_hold_no_machine_is_left_out() -> None:
    draft = chosen(host("pve1"), host("pve2", storages=(files(),)))

    assert [str(host.name) for host in draft.hosts] == ["pve1"]
    assert draft.away == (("pve2", "it has no storage for disk images"),)


def test_a_storage_that_could_take_images_is_named_with_the_way_to_switch_it_on() -> None:
    message = refusal(host("pve1", storages=(files("local", "iso", "vztmpl"), storage())))

    assert message.startswith("init.no-storage: no storage can hold boot images on pve1; ")
    assert "`pvesm set local --content import,iso,vztmpl`" in message


def test_without_any_storage_for_files_one_is_to_be_added() -> None:
    message = refusal(host("pve1", storages=(storage(),)))

    assert "`pvesm add dir images --path /var/lib/images --content import`" in message


def test_without_room_for_disks_nothing_is_made() -> None:
    message = refusal(host("pve1", storages=(files(), storage(free=10))))

    assert message.startswith("init.no-storage: no storage can hold machine disks on pve1; ")
    assert "local-lvm (lvmthin) for images, 10 GiB free" in message


def test_hosts_that_are_too_old_are_refused() -> None:
    with pytest.raises(Refused, match=r"proxmox\.unsupported"):
        build_draft(found(host("pve1"), version="8.2.4"), DraftOptions())


def test_without_a_host_nothing_is_made() -> None:
    assert refusal().startswith("init.no-host: ")


@given(taken=st.frozensets(st.integers(100, 3000)), lowest=st.integers(100, 3000))
def test_a_block_of_numbers_holds_nothing_that_is_seen(taken: frozenset[int], lowest: int) -> None:
    first = free_vmid_blocks(taken, lowest, 15)[0]

    assert first >= max(1000, lowest)
    assert first % 100 == 0
    assert not taken & set(range(first, first + 15))
