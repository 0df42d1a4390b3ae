"""What holds for guests through any door."""

import asyncio
from uuid import UUID

import pytest

from stockman.model.errors import Conflict, NotFound
from stockman.model.names import HostName, Vmid
from stockman.proxmox.client import ProxmoxClient
from stockman.proxmox.tasks import TaskRef
from stockman.proxmox.vms import GuestRef, Setting, VmConfig, VmUpdate
from tests.contract.proxmox.doors import Backend

PVE1, PVE2 = HostName("pve1"), HostName("pve2")
AT = GuestRef(host=PVE1, vmid=Vmid(1021))
UUID_1021 = UUID("4b1e7c7e-9d5a-4f53-8a3e-2f6a0f4d1021")
VALUES: dict[str, Setting] = {
    "name": "cp-1",
    "cores": 4,
    "memory": 4096,
    "smbios1": f"uuid={UUID_1021}",
    "tags": "stockman;talos",
    "onboot": True,
}


async def create_vm(pve: ProxmoxClient, at: GuestRef = AT) -> None:
    await pve.wait_task(await pve.create_vm(at, VALUES))


def test_a_vm_that_was_made_has_its_identity(backend: Backend) -> None:
    async def story(pve: ProxmoxClient) -> VmConfig:
        await create_vm(pve)
        return await pve.vm_config(AT)

    config = backend(story)

    assert (config.name, config.uuid) == ("cp-1", UUID_1021)


def test_the_configuration_of_a_missing_vm_is_not_found(backend: Backend) -> None:
    with pytest.raises(NotFound, match=r"proxmox\.not-found"):
        backend(lambda pve: pve.vm_config(AT))


def test_a_vm_is_not_found_on_another_host(backend: Backend) -> None:
    async def story(pve: ProxmoxClient) -> VmConfig:
        await create_vm(pve)
        return await pve.vm_config(GuestRef(host=PVE2, vmid=AT.vmid))

    with pytest.raises(NotFound):
        backend(story)


def test_a_number_that_is_taken_is_a_conflict(backend: Backend) -> None:
    async def story(pve: ProxmoxClient) -> None:
        await create_vm(pve)
        await create_vm(pve, GuestRef(host=PVE2, vmid=AT.vmid))

    with pytest.raises(Conflict, match=r"proxmox\.exists"):
        backend(story)


def test_a_taken_number_is_not_free_and_not_given_again(backend: Backend) -> None:
    async def story(pve: ProxmoxClient) -> tuple[int, bool, bool]:
        first = await pve.next_vmid()
        await create_vm(pve, GuestRef(host=PVE1, vmid=first))
        return first, await pve.is_vmid_free(first), await pve.next_vmid() != first

    assert backend(story) == (100, False, True)


def test_values_come_back_as_text(backend: Backend) -> None:
    async def story(pve: ProxmoxClient) -> VmConfig:
        await create_vm(pve)
        return await pve.vm_config(AT)

    config = backend(story)

    assert [config.get(key) for key in ("cores", "memory", "onboot")] == ["4", "4096", "1"]
    assert (config.name, config.uuid) == ("cp-1", UUID_1021)
    assert "digest" not in config
    assert config.digest


def test_a_change_is_seen_and_gives_another_digest(backend: Backend) -> None:
    async def story(pve: ProxmoxClient) -> tuple[VmConfig, VmConfig]:
        await create_vm(pve)
        before = await pve.vm_config(AT)
        change = VmUpdate(values={"cores": 8}, delete=("tags",), digest=before.digest)
        task = await pve.update_vm(AT, change)
        assert task is not None
        await pve.wait_task(task)
        return before, await pve.vm_config(AT)

    before, after = backend(story)

    assert (before.get("cores"), after.get("cores")) == ("4", "8")
    assert ("tags" in before, "tags" in after) == (True, False)
    assert before.digest != after.digest


def test_what_is_only_written_down_is_there_at_once(backend: Backend) -> None:
    async def story(pve: ProxmoxClient) -> tuple[TaskRef | None, VmConfig]:
        await create_vm(pve)
        before = await pve.vm_config(AT)
        change = VmUpdate(values={"description": "a cow"}, delete=("tags",), digest=before.digest)
        return await pve.update_vm(AT, change), await pve.vm_config(AT)

    task, after = backend(story)

    assert task is None
    assert (after.get("description"), "tags" in after) == ("a cow", False)


def test_what_is_only_written_down_is_a_conflict_where_others_wrote(backend: Backend) -> None:
    async def story(pve: ProxmoxClient) -> None:
        await create_vm(pve)
        await pve.update_vm(AT, VmUpdate(values={"tags": "a"}, digest="0" * 40))

    with pytest.raises(Conflict, match=r"proxmox\.changed"):
        backend(story)


def test_a_change_of_what_has_changed_is_a_conflict(backend: Backend) -> None:
    async def story(pve: ProxmoxClient) -> None:
        await create_vm(pve)
        await pve.update_vm(AT, VmUpdate(values={"cores": 8}, digest="0" * 40))

    with pytest.raises(Conflict, match=r"proxmox\.changed"):
        backend(story)


def test_power_is_seen(backend: Backend) -> None:
    async def story(pve: ProxmoxClient) -> list[str]:
        await create_vm(pve)
        seen = [(await pve.vm_status(AT)).status]
        await pve.wait_task(await pve.start_vm(AT))
        seen.append((await pve.vm_status(AT)).status)
        await pve.wait_task(await pve.stop_vm(AT))
        return [*seen, (await pve.vm_status(AT)).status]

    assert backend(story) == ["stopped", "running", "stopped"]


def test_starting_what_runs_is_a_conflict_at_the_end_of_the_task(backend: Backend) -> None:
    async def story(pve: ProxmoxClient) -> None:
        await create_vm(pve)
        await pve.wait_task(await pve.start_vm(AT))
        await pve.wait_task(await pve.start_vm(AT))

    with pytest.raises(Conflict, match=r"proxmox\.task-failed") as caught:
        backend(story)
    assert "VM 1021 already running" in caught.value.problem.why


def test_stopping_what_is_off_is_fine(backend: Backend) -> None:
    async def story(pve: ProxmoxClient) -> int:
        await create_vm(pve)
        return (await pve.wait_task(await pve.stop_vm(AT))).warnings

    assert backend(story) == 0


def test_a_deleted_vm_is_gone_and_deleting_it_again_finds_nothing(backend: Backend) -> None:
    async def story(pve: ProxmoxClient) -> None:
        await create_vm(pve)
        await pve.wait_task(await pve.delete_vm(AT))
        assert await pve.is_vmid_free(AT.vmid)
        await pve.delete_vm(AT)

    with pytest.raises(NotFound):
        backend(story)


def test_a_running_vm_is_not_deleted(backend: Backend) -> None:
    async def story(pve: ProxmoxClient) -> None:
        await create_vm(pve)
        await pve.wait_task(await pve.start_vm(AT))
        await pve.delete_vm(AT)

    with pytest.raises(Conflict, match=r"proxmox\.state"):
        backend(story)


def test_no_agent_answers_in_a_vm_that_is_off(backend: Backend) -> None:
    async def story(pve: ProxmoxClient) -> bool:
        await create_vm(pve)
        return await pve.agent_answers(AT)

    assert backend(story) is False


def test_guests_are_made_side_by_side(backend: Backend) -> None:
    async def story(pve: ProxmoxClient) -> list[int]:
        guest_refs = [GuestRef(host=PVE1, vmid=Vmid(number)) for number in range(200, 210)]
        async with asyncio.TaskGroup() as group:
            for at in guest_refs:
                group.create_task(create_vm(pve, at))
        return sorted(guest.vmid for guest in (await pve.resources()).guests)

    assert backend(story) == list(range(200, 210))
