"""From an empty world to machines that run, with no more rights than the token has."""

from http import HTTPStatus

import pytest
from stockman_lab.pve.api.call import Upload

from stockman.planning.change import ChangeKind
from stockman.planning.desired import ProxmoxOptions
from stockman.steps.plan import parse_plan, render_plan
from stockman.steps.step import Stage
from tests.planning.estate import Estate, died_at_every_call, perform

VERSIONS = ["8.4", "9.1"]


@pytest.mark.parametrize("pve", VERSIONS)
@pytest.mark.parametrize("preset", ["three-node", "fifteen-node"])
async def test_an_empty_world_gets_all_machines_and_then_there_is_nothing_left_to_do(
    preset: str, pve: str
) -> None:
    estate = Estate(preset, pve)

    first = await estate.apply()
    second = await estate.plan()

    desired_vms = {node.vm.vmid: node.vm for node in estate.desired.nodes if node.vm is not None}
    guests = next(iter(estate.world.clusters.values())).state.guests
    assert first.changes
    assert {vmid: guests[vmid].node for vmid in desired_vms} == {
        k: v.host for k, v in desired_vms.items()
    }
    assert {guests[vmid].status for vmid in desired_vms} == {"running"}
    assert all(str(vm.uuid) in estate.config(vmid)["smbios1"] for vmid, vm in desired_vms.items())
    assert second.changes == ()
    assert second.codes == []


async def test_everything_after_the_access_stage_is_done_by_the_token_alone() -> None:
    estate = Estate("three-node")

    outcome = await estate.apply()

    ids = [step.id for step in outcome.plan.steps]
    assert "access/ready/pve" in ids
    start = estate.trigger.log.index(
        next(line for line in estate.trigger.log if "download-url" in line)
    )
    assert {line.partition(" ")[0] for line in estate.trigger.log[start:]} == {
        "stockman@pve!stockman"
    }


async def test_the_access_stage_alone_gives_the_token_what_the_rest_needs() -> None:
    estate = Estate("three-node")
    before = await estate.plan(administrator=False)
    ports = estate.ports()
    for step in (await estate.plan()).plan.only([Stage.ACCESS]).steps:
        await perform(step.action, ports)

    after = await estate.apply(administrator=False)

    assert before.codes == ["proxmox.denied"]
    assert {step.stage for step in after.plan.steps} == {Stage.IMAGES, Stage.VMS}
    assert after.codes == []
    assert list(estate.secrets.kept) == ["${PROXMOX_TOKEN_SECRET}"]


async def test_a_privilege_that_is_missing_is_named_with_its_path() -> None:
    estate = Estate("three-node")
    await estate.apply()
    role = "StockmanStorages"
    estate.pve.put(f"/access/roles/{role}", privs="Datastore.Audit")

    outcome = await estate.plan(administrator=False)

    assert [problem.what for problem in outcome.problems] == [
        (
            "the token of stockman lacks Datastore.Allocate, Datastore.AllocateSpace,"
            " Datastore.AllocateTemplate on /storage"
        )
    ]


async def test_an_administrator_gives_a_role_back_what_it_lacks() -> None:
    estate = Estate("three-node")
    await estate.apply()
    estate.pve.put("/access/roles/StockmanGuests", privs="VM.Audit")

    outcome = await estate.apply()

    assert [step.id for step in outcome.plan.steps] == [
        "access/role/pve/StockmanGuests",
        "access/ready/pve",
    ]
    assert (await estate.plan()).changes == ()


async def test_rights_that_nobody_needs_any_more_are_taken_away_last() -> None:
    estate = Estate("three-node")
    await estate.apply()
    estate.pve.put("/access/roles/StockmanGuests", privs="VM.Backup", append="1")
    estate.edit("nodes.yaml", "memory: 16384", "memory: 8192")

    plan = (await estate.plan()).plan

    narrow = plan.step("access/narrow/pve/StockmanGuests")
    assert "vms/configure/talos-neo" in narrow.needs
    assert all("access/narrow" not in need for step in plan.steps for need in step.needs)


async def test_components_get_users_roles_and_tokens_of_their_own() -> None:
    estate = Estate("three-node", "9.1")
    estate.texts["cluster.yaml"] += (
        "\ncomponents:\n  proxmox-csi: {enabled: true, storage: ceph-vm-disks}\n"
    )

    await estate.apply()

    access = next(iter(estate.world.clusters.values())).state.access
    assert "stockman-csi@pve" in access.users
    assert "token:pve/stockman-csi@pve!csi" in estate.secrets.kept
    assert (await estate.plan()).changes == ()


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("pve", VERSIONS)
async def test_whoever_dies_at_any_call_finishes_when_started_again(
    pve: str, *, after: bool
) -> None:
    estate = Estate("three-node", pve)
    plan = (await estate.plan()).plan

    deaths = await died_at_every_call(estate, plan.steps, after=after)

    estate.world.settle()
    guests = next(iter(estate.world.clusters.values())).state.guests
    assert deaths > 90
    assert sorted(guests) == [1030, 1031, 1032]
    assert {guest.status for guest in guests.values()} == {"running"}
    assert (await estate.plan()).changes == ()


async def test_a_plan_can_be_saved_and_carried_out_later() -> None:
    estate = Estate("three-node")
    plan = (await estate.plan()).plan

    again = parse_plan(render_plan(plan), "plan.json")

    assert again == plan


async def test_the_calls_of_a_look_grow_with_hosts_and_nodes() -> None:
    estate = Estate("three-node")
    empty = await estate.observe()
    await estate.apply()

    full = await estate.observe()

    assert empty.calls < 44
    assert full.calls < empty.calls + 9
    assert list(full.unknown_details()) == []


async def test_images_that_no_node_has_any_more_are_deleted_when_asked_to() -> None:
    estate = Estate("three-node")
    await estate.apply()
    estate.edit("cluster.yaml", "talos_version: 1.11.0", "talos_version: 1.11.1")

    kept = await estate.plan()
    pruned = await estate.apply(options=ProxmoxOptions(prune=True))

    assert kept.changes == ()
    assert [(change.mark, change.stage) for change in pruned.changes] == [
        (ChangeKind.REMOVE, Stage.IMAGES)
    ]
    image = "cephfs:import/talos-376567988ad37013-v1.11.0-nocloud-amd64.qcow2"
    assert pruned.plan.destroys == (f"the image {image}, which can be fetched again",)


async def test_pruning_leaves_what_stockman_did_not_fetch() -> None:
    estate = Estate("three-node")
    await estate.apply()
    for name in ("talos-mine.qcow2", "debian-12.qcow2"):
        reply = estate.pve.reply(
            "POST",
            "/nodes/neo/storage/cephfs/upload",
            {"content": "import", "filename": name},
            Upload(name, b"QFI\xfb" + bytes(1020)),
        )
        assert reply.status == HTTPStatus.OK
    estate.world.settle()

    outcome = await estate.plan(options=ProxmoxOptions(prune=True))

    assert outcome.changes == ()
