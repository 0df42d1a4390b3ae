"""Templates: made on every host, kept at the version of a node, replaced without a gap."""

import pytest

from stockman.model.errors import Refused
from stockman.planning.change import ChangeKind
from stockman.planning.desired import ProxmoxOptions
from stockman.steps.vm.configure import ConfigureVm
from stockman.steps.vm.template import ConvertToTemplate, DeleteTemplate
from tests.planning.estate import NO_HA, Estate, died_at_every_call, perform

TEMPLATE = """\
  templates:
    - name: talos
      like: talos-niobe
      hosts: [neo, niobe]
      datastore: ceph-vm-disks
"""


@pytest.fixture
def estate() -> Estate:
    """Three machines, and templates on two hosts."""
    estate = Estate("three-node")
    estate.edit("nodes.yaml", NO_HA, "")
    estate.edit("cluster.yaml", r"^proxmox:\n", f"proxmox:\n{TEMPLATE}")
    return estate


def templates(estate: Estate) -> dict[int, tuple[str, str]]:
    """Hosts and names of templates, by number."""
    guests = next(iter(estate.world.clusters.values())).state.guests
    return {
        vmid: (guest.node, guest.config.values["name"])
        for vmid, guest in guests.items()
        if guest.is_template
    }


def off(estate: Estate, host: str) -> None:
    """Let a host lose its power."""
    next(iter(estate.world.clusters.values())).state.hosts[host].has_power = False
    estate.world.advance(120)


async def test_every_host_that_is_named_gets_a_template_and_then_nothing_is_left(
    estate: Estate,
) -> None:
    first = await estate.apply()
    second = await estate.plan()

    assert templates(estate) == {
        9000: ("neo", "talos-v1-11-0-37656798"),
        9001: ("niobe", "talos-v1-11-0-37656798"),
    }
    assert "stockman-template" in estate.config(9000)["tags"]
    assert ":base-9000-disk-" in estate.config(9000)["scsi0"]
    assert [change.what for change in first.changes if "template" in change.what] == [
        "template 9000 (talos-v1-11-0-37656798) on neo",
        "template 9001 (talos-v1-11-0-37656798) on niobe",
    ]
    assert second.changes == ()
    assert second.codes == []


async def test_numbers_that_others_have_are_left_to_them(estate: Estate) -> None:
    root = estate.pve
    root.done(root.post("/nodes/neo/qemu", vmid=9000, name="billing"))

    await estate.apply()

    assert sorted(templates(estate)) == [9001, 9002]


async def test_another_version_means_a_new_template_before_the_old_one_goes(
    estate: Estate,
) -> None:
    await estate.apply()
    estate.edit("cluster.yaml", "talos_version: 1.11.0", "talos_version: 1.11.1")

    outcome = await estate.apply()

    marks = [change.mark for change in outcome.changes if change.what.startswith("template")]
    assert marks == [ChangeKind.ADD, ChangeKind.ADD, ChangeKind.REMOVE, ChangeKind.REMOVE]
    assert templates(estate) == {
        9002: ("neo", "talos-v1-11-1-37656798"),
        9003: ("niobe", "talos-v1-11-1-37656798"),
    }
    gone = outcome.plan.step("vms/untemplate/pve/9000")
    assert {"vms/template/pve/9002", "vms/template/pve/9003"} <= set(gone.needs)
    assert (await estate.plan()).changes == ()


async def test_a_template_that_disks_depend_on_stays_until_they_are_gone(estate: Estate) -> None:
    await estate.apply()
    root = estate.pve
    root.done(root.post("/nodes/neo/qemu/9000/clone", newid=500, name="linked"))
    estate.edit("cluster.yaml", "talos_version: 1.11.0", "talos_version: 1.11.1")

    outcome = await estate.apply()
    still = await estate.plan()
    root.done(root.delete("/nodes/neo/qemu/500"))
    last = await estate.apply()

    assert sorted(templates(estate)) == [9002, 9003]
    assert outcome.codes == ["template.stays"]
    assert (still.changes, still.codes) == ((), ["template.stays"])
    assert [change.what for change in last.changes] == [
        "template 9000 (talos-v1-11-0-37656798) on neo"
    ]


async def test_a_clone_that_comes_after_the_plan_keeps_its_template(estate: Estate) -> None:
    await estate.apply()
    estate.edit("cluster.yaml", TEMPLATE.replace("[", r"\[").replace("]", r"\]"), "")
    plan = (await estate.plan()).plan
    root = estate.pve
    root.done(root.post("/nodes/neo/qemu/9000/clone", newid=500, name="linked"))

    with pytest.raises(Refused, match=r"template\.in-use"):
        await perform(plan.step("vms/untemplate/pve/9000").action, estate.ports())

    assert 9000 in templates(estate)


async def test_hardware_of_a_template_follows_its_node(estate: Estate) -> None:
    await estate.apply()
    estate.edit("nodes.yaml", "memory: 16384", "memory: 12288")

    outcome = await estate.apply()

    mine = [change for change in outcome.changes if change.what.startswith("template")]
    assert {type(step.action) for one in mine for step in one.steps} == {ConfigureVm}
    assert estate.config(9000)["memory"] == "12288"
    assert (await estate.plan()).changes == ()


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
async def test_whoever_dies_while_templates_are_replaced_finishes_when_started_again(
    estate: Estate, *, after: bool
) -> None:
    await estate.apply()
    estate.edit("cluster.yaml", "talos_version: 1.11.0", "talos_version: 1.11.1")

    deaths = await died_at_every_call(estate, (await estate.plan()).plan.steps, after=after)

    assert deaths > 10
    assert sorted(templates(estate)) == [9002, 9003]
    assert (await estate.plan()).changes == ()


async def test_a_vm_that_was_not_made_a_template_yet_is_made_one(estate: Estate) -> None:
    plan = (await estate.plan()).plan
    for step in plan.steps:
        if not isinstance(step.action, ConvertToTemplate):
            await perform(step.action, estate.ports())

    outcome = await estate.apply()

    assert {type(step.action) for step in outcome.plan.steps} == {ConvertToTemplate}
    assert sorted(templates(estate)) == [9000, 9001]


async def test_templates_are_no_reason_to_keep_images_of_other_versions(estate: Estate) -> None:
    await estate.apply()

    outcome = await estate.plan(options=ProxmoxOptions(prune=True))

    assert not any(isinstance(step.action, DeleteTemplate) for step in outcome.plan.steps)
    assert outcome.changes == ()


async def test_a_host_that_is_off_keeps_its_template_and_nobody_else_waits(estate: Estate) -> None:
    await estate.apply()
    off(estate, "neo")

    outcome = await estate.plan()

    assert "template.host-offline" in outcome.codes
    assert not [problem for problem in outcome.problems if problem.is_error]
    assert outcome.changes == ()


async def test_a_template_in_a_storage_without_room_is_told_before_anything_is_made(
    estate: Estate,
) -> None:
    estate.edit("cluster.yaml", "datastore: ceph-vm-disks", "datastore: nowhere")

    outcome = await estate.plan()

    assert set(outcome.codes) == {"vm.no-storage"}


async def test_a_storage_that_has_no_templates_is_told_before_anything_is_made(
    estate: Estate,
) -> None:
    estate.pve.post("/storage", storage="san", type="lvm", vgname="san", content="images")
    estate.edit("cluster.yaml", "datastore: ceph-vm-disks", "datastore: san")

    outcome = await estate.plan()

    assert "template.storage" in {problem.code for problem in outcome.problems if problem.is_error}
