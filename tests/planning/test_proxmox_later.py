"""What happens to machines after they were made: changes, moves, removal."""

from dataclasses import replace

import pytest

from stockman.model.errors import Refused
from stockman.planning.change import ChangeKind
from stockman.steps.vm.configure import ConfigureVm, MoveVm
from stockman.steps.vm.destroy import DestroyVm
from stockman.steps.vm.disks import KEEPER, AttachDisk, GrowDisk
from stockman.steps.vm.identity import GuestIdentity
from stockman.steps.vm.power import RestartVm, StartVm, StopVm
from tests.planning.containers import CONTAINER, upload_system
from tests.planning.estate import Estate, Killed, died_at_every_call, perform

NIOBE = r"  - name: talos-niobe\n(    .*\n)*"


async def test_memory_waits_for_a_restart_and_tags_do_not(estate: Estate) -> None:
    await estate.apply()
    estate.edit("nodes.yaml", "memory: 16384", "memory: 12288\n      tags: [lab]")

    outcome = await estate.apply()

    kinds = [type(step.action) for step in outcome.plan.steps]
    assert kinds == [ConfigureVm, RestartVm] * 3
    assert outcome.changes[0].what == (
        "VM 1030 (talos-trinity): memory, tags; needs a restart for memory"
    )
    assert estate.config(1030)["memory"] == "12288"
    assert estate.config(1030)["tags"] == "lab;stockman;stockman-k8s"
    assert (await estate.plan()).changes == ()


async def test_a_restart_leaves_high_availability_as_it_was() -> None:
    estate = Estate("three-node")
    await estate.apply()
    estate.edit("nodes.yaml", "memory: 16384", "memory: 12288")

    outcome = await estate.apply()

    assert RestartVm in {type(step.action) for step in outcome.plan.steps}
    guests = next(iter(estate.world.clusters.values())).state.guests
    assert {guest.status for guest in guests.values()} == {"running"}
    assert (await estate.plan()).changes == ()


async def test_tags_that_others_set_stay(estate: Estate) -> None:
    await estate.apply()
    estate.pve.put("/nodes/neo/qemu/1031/config", tags="mine;stockman;stockman-k8s")

    assert (await estate.plan()).changes == ()


async def test_what_only_a_first_boot_reads_never_restarts_a_machine(estate: Estate) -> None:
    await estate.apply()
    node = estate.desired.nodes[0].vm
    assert node is not None
    path = f"/nodes/{node.host}/qemu/{node.vmid}/config"
    estate.pve.put(path, smbios1=f"uuid={node.uuid}")
    estate.pve.put(path, delete="ide2,ipconfig0,nameserver,citype")
    estate.world.settle()

    assert (await estate.plan()).changes == ()


async def test_disks_grow_and_never_shrink(estate: Estate) -> None:
    await estate.apply()
    estate.edit("nodes.yaml", "disk_gb: 100", "disk_gb: 120")
    grown = await estate.apply()
    estate.edit("nodes.yaml", "disk_gb: 120", "disk_gb: 80")

    shrunk = await estate.plan()

    assert {type(step.action) for step in grown.plan.steps} == {GrowDisk}
    assert "size=120G" in estate.config(1030)["scsi0"]
    assert set(shrunk.codes) == {"vm.disk-shrinks"}


async def test_a_machine_is_moved_to_the_host_that_is_asked_for(estate: Estate) -> None:
    await estate.apply()
    estate.edit("nodes.yaml", "vmid: 1032, host: niobe", "vmid: 1032, host: neo")

    outcome = await estate.apply()

    assert [type(step.action) for step in outcome.plan.steps] == [MoveVm]
    guests = next(iter(estate.world.clusters.values())).state.guests
    assert (guests[1032].node, guests[1032].status) == ("neo", "running")
    assert (await estate.plan()).changes == ()


async def test_a_machine_that_high_availability_moved_is_where_it_should_be() -> None:
    estate = Estate("three-node")
    await estate.apply()
    estate.pve.post("/cluster/ha/resources/vm:1032/migrate", node="neo")
    estate.world.settle()

    guests = next(iter(estate.world.clusters.values())).state.guests
    assert guests[1032].node == "neo"
    outcome = await estate.plan()
    assert outcome.changes == ()
    assert [problem.code for problem in outcome.problems] == ["vm.ha-elsewhere"]


async def test_a_node_that_stopped_is_started(estate: Estate) -> None:
    await estate.apply()
    estate.pve.done(estate.pve.post("/nodes/neo/qemu/1031/status/stop"))
    estate.world.advance(60)

    outcome = await estate.apply()

    assert [type(step.action) for step in outcome.plan.steps] == [StartVm]
    assert (await estate.plan()).changes == ()


async def test_a_node_that_left_the_files_is_destroyed_and_said_so(estate: Estate) -> None:
    await estate.apply()
    estate.edit("nodes.yaml", NIOBE, "")

    outcome = await estate.apply()

    assert outcome.plan.destroys == ("VM 1032 (talos-niobe) on niobe with its system disk",)
    assert [change.mark for change in outcome.changes] == [ChangeKind.REMOVE]
    assert sorted(next(iter(estate.world.clusters.values())).state.guests) == [1030, 1031]
    assert (await estate.plan()).changes == ()


async def test_high_availability_lets_go_of_a_machine_that_is_destroyed() -> None:
    estate = Estate("three-node")
    await estate.apply()
    estate.edit("nodes.yaml", NIOBE, "")

    await estate.apply()

    assert sorted(next(iter(estate.world.clusters.values())).state.guests) == [1030, 1031]
    assert (await estate.plan()).changes == ()


async def test_a_stranger_under_the_number_of_a_machine_is_not_destroyed(estate: Estate) -> None:
    await estate.apply()
    estate.edit("nodes.yaml", NIOBE, "")
    plan = (await estate.plan()).plan
    root = estate.pve
    root.done(root.post("/nodes/niobe/qemu/1032/status/stop"))
    root.done(root.delete("/nodes/niobe/qemu/1032"))
    root.done(root.post("/nodes/niobe/qemu", vmid=1032, name="billing"))

    with pytest.raises(Refused, match=r"vm\.identity"):
        await perform(plan.step("vms/destroy/talos-niobe").action, estate.ports())

    assert estate.config(1032)["name"] == "billing"


async def test_machines_of_others_are_never_removed(estate: Estate) -> None:
    root = estate.pve
    root.done(root.post("/nodes/niobe/qemu", vmid=500, name="billing", tags="stockman"))

    outcome = await estate.apply()

    assert outcome.plan.destroys == ()
    assert (await estate.plan()).changes == ()


async def test_destroying_is_finished_by_whoever_comes_next(estate: Estate) -> None:
    await estate.apply()
    estate.edit("nodes.yaml", NIOBE, "")
    action = (await estate.plan()).plan.step("vms/destroy/talos-niobe").action
    deaths = 0

    for call in range(1, 60):
        estate.trigger.left, estate.trigger.after = call, True
        try:
            await perform(action, estate.ports())
        except Killed:
            deaths += 1
    estate.trigger.left = -1

    assert deaths > 5
    assert await action.done(estate.ports())
    assert await perform(action, estate.ports()) is False


async def test_data_disks_outlive_their_machine(estate: Estate) -> None:
    disk = "    vm: {vmid: 1032, host: niobe, data_disks: [{name: data, size_gb: 50}]}"
    estate.edit("nodes.yaml", r"    vm: \{vmid: 1032, host: niobe\}", disk)
    await estate.apply()
    text = estate.texts["nodes.yaml"]
    before = estate.config(1032)["scsi1"]
    estate.edit("nodes.yaml", NIOBE, "")
    await estate.apply()
    estate.texts["nodes.yaml"] = text

    outcome = await estate.apply()

    assert f"vm-{KEEPER}-k8s-talos-niobe-data" in before
    assert estate.config(1032)["scsi1"] == before
    assert AttachDisk in {type(step.action) for step in outcome.plan.steps}
    assert (await estate.plan()).changes == ()


async def test_a_disk_that_nobody_may_lose_keeps_its_machine(estate: Estate) -> None:
    await estate.apply()
    estate.pve.put("/nodes/niobe/qemu/1032/config", scsi5="ceph-vm-disks:7,serial=photos")
    estate.edit("nodes.yaml", NIOBE, "")
    action = (await estate.plan()).plan.step("vms/destroy/talos-niobe").action

    with pytest.raises(Refused, match=r"vm\.data-disk"):
        await perform(action, estate.ports())

    assert estate.config(1032)["name"] == "talos-niobe"


async def test_a_disk_may_be_made_to_die_with_its_machine(estate: Estate) -> None:
    disk = "    vm: {vmid: 1032, host: niobe, data_disks: [{name: tmp, size_gb: 5, keep: false}]}"
    estate.edit("nodes.yaml", r"    vm: \{vmid: 1032, host: niobe\}", disk)
    await estate.apply()
    estate.edit("nodes.yaml", NIOBE, "")

    outcome = await estate.apply()

    assert outcome.plan.destroys == (
        "VM 1032 (talos-niobe) on niobe with its system disk and its disks tmp",
    )


async def test_another_number_means_another_machine_after_the_old_one_is_gone(
    estate: Estate,
) -> None:
    await estate.apply()
    estate.edit("nodes.yaml", "vmid: 1032", "vmid: 1132")

    outcome = await estate.apply()

    create = outcome.plan.step("vms/create/talos-niobe")
    assert "vms/destroy/talos-niobe" in create.needs
    assert isinstance(outcome.plan.step("vms/destroy/talos-niobe").action, DestroyVm)
    assert sorted(next(iter(estate.world.clusters.values())).state.guests) == [1030, 1031, 1132]


GUESTS = f"""
guests:
  - name: printer
    vmid: 300
    host: neo
    vm:
      cores: 2
      memory: 2048
      datastore: ceph-vm-disks
      nics: [{{bridge: vmbr0}}]
      cloud_init: {{user: me, password: "${{PASSWORD}}", ssh_keys: ["ssh-ed25519 AAAA me"]}}
{CONTAINER}"""


def with_guests(estate: Estate) -> None:
    """A VM and a container are wanted beside the nodes, and can be made."""
    estate.secrets.kept["${PASSWORD}"] = "canary-in-the-mine"
    upload_system(estate)
    estate.texts["nodes.yaml"] += GUESTS


async def test_other_vms_and_containers_are_made_changed_and_removed_by_the_same_rules(
    estate: Estate,
) -> None:
    state = next(iter(estate.world.clusters.values())).state
    with_guests(estate)
    first = await estate.apply()
    assert state.guests[300].config.values["cipassword"].startswith("$5$")
    estate.edit("nodes.yaml", "cores: 2\n      memory: 2048", "cores: 2\n      memory: 3072")
    estate.edit("nodes.yaml", "      template:", "      memory: 2048\n      template:")
    second = await estate.apply()
    again = await estate.plan()
    estate.texts["nodes.yaml"] = estate.texts["nodes.yaml"].partition("\nguests:")[0] + "\n"
    last = await estate.apply()

    assert "canary" not in str(first.plan)
    assert {step.node for step in second.plan.steps} == {"printer", "dns"}
    assert again.changes == ()
    assert sorted(change.node for change in last.changes) == ["dns", "printer"]
    assert sorted(state.guests) == [1030, 1031, 1032]


@pytest.mark.parametrize("after", [True, False], ids=["after-the-call", "before-the-call"])
async def test_a_password_is_never_in_plain_text_in_proxmox_wherever_the_product_dies(
    estate: Estate, after: bool
) -> None:
    await estate.apply()
    with_guests(estate)
    plan = (await estate.plan()).plan
    (create,) = (step for step in plan.steps if step.id == "vms/create/printer")

    deaths = await died_at_every_call(estate, [create], after=after)

    state = next(iter(estate.world.clusters.values())).state
    assert deaths > 2
    assert state.guests[300].config.values["cipassword"].startswith("$5$")
    assert not any("canary" in line for line in estate.trigger.log)


async def test_a_restart_that_a_run_left_out_is_planned_by_the_next(estate: Estate) -> None:
    await estate.apply()
    estate.pve.put("/nodes/neo/qemu/1031/config", memory=8192)
    estate.edit(
        "nodes.yaml",
        "memory: 16384",
        "memory: 8192",
    )

    plan = await estate.plan()

    steps = [step.id for step in plan.plan.steps if step.node == "talos-neo"]
    assert steps == ["vms/restart/talos-neo"]
    (change,) = [change for change in plan.changes if change.node == "talos-neo"]
    assert "memory was changed and needs a restart" in change.why
    await estate.apply()
    assert (await estate.plan()).changes == ()


MOUNTS = """\
      mounts:
        - {path: /zones, source: "ceph-vm-disks:4"}
"""


async def test_mounts_of_a_container_are_added_and_grown_later(estate: Estate) -> None:
    with_guests(estate)
    await estate.apply()
    estate.texts["nodes.yaml"] += MOUNTS

    added = await estate.apply()
    estate.edit("nodes.yaml", "ceph-vm-disks:4", "ceph-vm-disks:6")
    grown = await estate.apply()

    assert [step.id for step in added.plan.steps] == ["vms/mount/dns/mp0"]
    assert [step.id for step in grown.plan.steps] == ["vms/grow/dns/mp0"]
    assert (await estate.plan()).changes == ()
    config = str(estate.pve.get("/nodes/neo/lxc/301/config"))
    assert "mp=/zones" in config
    assert "size=6G" in config


async def test_mounts_neither_shrink_nor_go(estate: Estate) -> None:
    with_guests(estate)
    estate.texts["nodes.yaml"] += MOUNTS
    await estate.apply()

    estate.edit("nodes.yaml", "ceph-vm-disks:4", "ceph-vm-disks:2")
    smaller = await estate.plan()
    estate.texts["nodes.yaml"] = estate.texts["nodes.yaml"].partition("      mounts:")[0]
    gone = await estate.plan()

    assert [error.code for error in smaller.problems.errors] == ["vm.disk-shrinks"]
    assert gone.changes == ()
    assert [warning.code for warning in gone.problems.warnings] == ["vm.mount-stays"]


async def test_a_host_that_high_availability_does_not_follow_is_told() -> None:
    estate = Estate("three-node")
    await estate.apply()
    estate.edit("nodes.yaml", "host: neo", "host: niobe")

    plan = await estate.plan()

    assert plan.changes == ()
    (warning,) = plan.problems.warnings
    assert warning.code == "vm.ha-elsewhere"
    assert "ha-manager migrate vm:1031 niobe" in warning.fix


async def test_stopping_asks_first_and_is_fine_where_nothing_runs(estate: Estate) -> None:
    await estate.apply()
    node = estate.desired.nodes[0].vm
    assert node is not None
    who = GuestIdentity(cluster=estate.region, vmid=node.vmid, name=node.name, uuid=node.uuid)
    stop = StopVm(vm=who, host=node.host, seconds=5)

    assert await perform(stop, estate.ports()) is True
    assert await perform(replace(stop, seconds=6), estate.ports()) is False
