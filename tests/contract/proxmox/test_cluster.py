"""What holds for the cluster, its hosts and its storages through any door."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from stockman.model.errors import NotFound
from stockman.model.names import Datastore, HostName, Vmid
from stockman.proxmox.client import ProxmoxClient
from stockman.proxmox.cluster import ClusterState, Resources
from stockman.proxmox.storages import NewVolume, Upload, Volume
from stockman.proxmox.tasks import TaskRef
from tests.contract.proxmox.doors import Backend

PVE1 = HostName("pve1")
LOCAL, ZFS = Datastore("local"), Datastore("local-zfs")
MIB = 1 << 20


def test_the_version_is_told(backend: Backend) -> None:
    version = backend(lambda pve: pve.version())

    assert version.major == 9
    assert version.version.startswith(f"{version.release}.")


def test_the_cluster_has_quorum_and_two_members(backend: Backend) -> None:
    state: ClusterState = backend(lambda pve: pve.cluster_state())

    assert (state.name, state.quorate) == ("lab", True)
    assert [(member.name, member.online) for member in state.members] == [
        ("pve1", True),
        ("pve2", True),
    ]
    assert sum(member.is_local for member in state.members) == 1


def test_everything_is_seen_at_one_glance(backend: Backend) -> None:
    seen: Resources = backend(lambda pve: pve.resources())

    assert {(host.host, host.status) for host in seen.hosts} == {
        ("pve1", "online"),
        ("pve2", "online"),
    }
    assert {(storage.host, storage.storage) for storage in seen.storages} == {
        ("pve1", "local"),
        ("pve1", "local-zfs"),
        ("pve2", "local"),
        ("pve2", "local-zfs"),
    }
    assert seen.guests == ()
    assert all(host.memory and host.cores for host in seen.hosts)


def test_a_host_has_its_bridge(backend: Backend) -> None:
    network = backend(lambda pve: pve.host_network(PVE1))

    bridges = [interface for interface in network.interfaces if interface.is_bridge]
    assert [(bridge.name, bridge.active, bridge.vlan_aware) for bridge in bridges] == [
        ("vmbr0", True, True)
    ]
    assert network.unapplied == ""


def test_storages_tell_their_space_and_content(backend: Backend) -> None:
    result = {item.storage: item for item in backend(lambda pve: pve.storages(PVE1))}

    assert {"iso", "import"} <= result[LOCAL].content
    assert "images" in result[ZFS].content
    assert result[ZFS].kind == "zfspool"
    assert all(item.active and 0 < item.free <= item.size for item in result.values())


def test_a_storage_that_is_not_there_is_not_found(backend: Backend) -> None:
    with pytest.raises(NotFound):
        backend(lambda pve: pve.storage_state(PVE1, Datastore("nowhere")))


def test_a_volume_is_made_listed_and_deleted(backend: Backend) -> None:
    async def story(pve: ProxmoxClient) -> tuple[str, tuple[Volume, ...], tuple[Volume, ...]]:
        new_volume = NewVolume(vmid=Vmid(9999), name="vm-9999-data", size=64 * MIB)
        allocate_volume = await pve.allocate_volume(PVE1, ZFS, new_volume)
        listed = await pve.volumes(PVE1, ZFS, content="images")
        task = await pve.delete_volume(PVE1, allocate_volume)
        if task is not None:
            await pve.wait_task(task)
        return allocate_volume, listed, await pve.volumes(PVE1, ZFS)

    expected, listed, after = backend(story)

    assert expected == "local-zfs:vm-9999-data"
    assert [(item.id, item.size, item.vmid) for item in listed] == [(expected, 64 * MIB, 9999)]
    assert after == ()


def test_a_file_that_was_sent_is_there(backend: Backend) -> None:
    content = bytes(range(256)) * 4096

    async def pieces() -> AsyncIterator[bytes]:
        for at in range(0, len(content), 65536):
            yield content[at : at + 65536]

    async def story(pve: ProxmoxClient) -> tuple[Volume, ...]:
        file = Upload(content="iso", name="seed.iso", size=len(content), read=pieces)
        await pve.wait_task(await pve.upload(PVE1, LOCAL, file))
        return await pve.volumes(PVE1, LOCAL, content="iso")

    assert [(item.id, item.size) for item in backend(story)] == [
        ("local:iso/seed.iso", len(content))
    ]


def test_a_task_that_nobody_knows_is_not_found(backend: Backend) -> None:
    unknown = TaskRef.parse("UPID:pve1:0000FFFF:0000FFFF:70DBD880:qmstart:100:root@pam:")

    with pytest.raises(NotFound):
        backend(lambda pve: pve.task_state(unknown))


def test_reads_go_side_by_side(backend: Backend) -> None:
    async def story(pve: ProxmoxClient) -> int:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(pve.version()) for _ in range(40)]
        return len({task.result().version for task in tasks})

    assert backend(story) == 1
