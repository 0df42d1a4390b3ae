"""The end of a cluster: everything that is its own goes, and nothing else."""

import pytest
from stockman_lab.servers.port import WorldClock

from stockman.model.names import Datastore, HostName
from stockman.model.problem import Problems
from stockman.planning.change import ProxmoxChange, lane_widths, unique_steps
from stockman.planning.destruction import DestructionScope, plan_destruction
from stockman.steps.access.admin import admin_client_name
from stockman.steps.base import GateAnswer
from stockman.steps.plan import Plan, build_plan
from stockman.steps.step import Stage
from stockman.steps.vm.disks import KEEPER
from tests.planning.estate import NO_HA, Estate, died_at_every_call, perform

TEMPLATE = "  templates:\n    - {name: talos, like: talos-niobe}\n"
DISK = "    vm: {vmid: 1032, host: niobe, data_disks: [{name: data, size_gb: 50}]}"
VERSIONS = ["8.4", "9.1"]


@pytest.fixture
def estate() -> Estate:
    """Three machines with a data disk and a template."""
    estate = Estate("three-node")
    estate.edit("nodes.yaml", r"    vm: \{vmid: 1032, host: niobe\}", DISK)
    estate.edit("cluster.yaml", r"^proxmox:\n", f"proxmox:\n{TEMPLATE}")
    return estate


class Ending:
    """A plan to destroy, and what was found on the way to it."""

    def __init__(self, changes: tuple[ProxmoxChange, ...], problems: Problems, plan: Plan) -> None:
        self.changes = changes
        self.problems = problems
        self.plan = plan

    @property
    def codes(self) -> list[str]:
        return [problem.code for problem in self.problems]


async def ending(
    estate: Estate, extent: DestructionScope | None = None, *, administrator: bool = True
) -> Ending:
    problems = Problems()
    seen = {estate.region: await estate.observe(administrator=administrator)}
    destruction = plan_destruction(estate.desired, seen, problems, extent or DestructionScope())
    steps = unique_steps(destruction)
    now = WorldClock(estate.world).now()
    plan = build_plan(Plan(cluster="k8s", made_at=now, steps=steps, lanes=lane_widths(steps)))
    return Ending(destruction, problems, plan)


async def carry_out(estate: Estate, plan: Plan, *, administrator: bool = True) -> None:
    ports = estate.ports(administrator=administrator)
    for step in plan.steps:
        for gate in step.gates:
            assert (await gate.check(ports)).answer is GateAnswer.GO
        await perform(step.action, ports)
    estate.world.settle()


def numbers(estate: Estate) -> list[int]:
    return sorted(next(iter(estate.world.clusters.values())).state.guests)


async def volumes(estate: Estate, storage: str) -> list[str]:
    pve = estate.ports().proxmox[admin_client_name(estate.region)]
    return [volume.id for volume in await pve.volumes(HostName("neo"), Datastore(storage))]


@pytest.mark.parametrize("pve", VERSIONS)
async def test_machines_and_templates_go_and_the_second_look_finds_nothing(pve: str) -> None:
    estate = Estate("three-node", pve)
    estate.edit("cluster.yaml", r"^proxmox:\n", f"proxmox:\n{TEMPLATE}")
    await estate.apply()

    first = await ending(estate)
    await carry_out(estate, first.plan)
    second = await ending(estate)

    assert [step for step in first.plan.touches if step.startswith("vm/")]
    assert first.codes == []
    assert numbers(estate) == []
    assert second.changes == ()
    state = next(iter(estate.world.clusters.values())).state
    assert (dict(state.ha_resources), dict(state.ha_rules), dict(state.ha_groups)) == ({}, {}, {})


async def test_everything_that_is_lost_is_said_in_plain_words(estate: Estate) -> None:
    await estate.apply()

    planned_end = await ending(estate, DestructionScope(access=False))

    assert sorted(planned_end.plan.destroys) == [
        "VM 1030 (talos-trinity) on trinity with its system disk",
        "VM 1031 (talos-neo) on neo with its system disk",
        "VM 1032 (talos-niobe) on niobe with its system disk",
        "template 9000 (talos-v1-11-0-37656798) on niobe; VMs made from it stay",
    ]


async def test_data_disks_stay_and_come_back_to_a_machine_that_is_made_again(
    estate: Estate,
) -> None:
    await estate.apply()
    before = estate.config(1032)["scsi1"]

    planned_end = await ending(estate)
    await carry_out(estate, planned_end.plan)
    left = await volumes(estate, "ceph-vm-disks")
    await estate.apply()

    told = [change.why for change in planned_end.changes if change.node == "talos-niobe"]
    assert told[0].endswith(f"; ceph-vm-disks:vm-{KEEPER}-k8s-talos-niobe-data is kept")
    assert left == [f"ceph-vm-disks:vm-{KEEPER}-k8s-talos-niobe-data"]
    assert estate.config(1032)["scsi1"] == before


async def test_a_disk_that_somebody_added_stops_it_before_anything_is_gone(
    estate: Estate,
) -> None:
    await estate.apply()
    estate.pve.put("/nodes/niobe/qemu/1032/config", scsi5="ceph-vm-disks:7,serial=photos")

    planned_end = await ending(estate)

    assert [problem.code for problem in planned_end.problems if problem.is_error] == [
        "vm.data-disk"
    ]


async def test_protection_stops_it_before_anything_is_gone(estate: Estate) -> None:
    await estate.apply()
    estate.pve.put("/nodes/niobe/qemu/1032/config", protection=1)

    planned_end = await ending(estate)

    assert [problem.code for problem in planned_end.problems if problem.is_error] == [
        "vm.protected"
    ]


async def test_machines_of_others_stay(estate: Estate) -> None:
    await estate.apply()
    root = estate.pve
    root.done(root.post("/nodes/neo/qemu", vmid=500, name="billing", tags="stockman"))
    mark = "stockman: other/billing-2"
    root.done(
        root.post("/nodes/neo/qemu", vmid=501, name="billing-2", tags="stockman", description=mark)
    )

    planned_end = await ending(estate)
    await carry_out(estate, planned_end.plan)

    assert numbers(estate) == [500, 501]
    assert planned_end.codes == ["destroy.access-shared"]


async def test_a_guest_under_the_number_of_a_machine_stays_when_it_is_another(
    estate: Estate,
) -> None:
    await estate.apply()
    root = estate.pve
    root.put("/cluster/ha/resources/vm:1032", state="disabled")
    estate.world.settle()
    root.done(root.delete("/nodes/niobe/qemu/1032", purge=1))
    root.done(root.post("/nodes/niobe/qemu", vmid=1032, name="billing"))

    planned_end = await ending(estate)
    await carry_out(estate, planned_end.plan)

    assert numbers(estate) == [1032]
    assert planned_end.codes == ["destroy.not-ours"]


async def test_machines_that_left_the_files_and_are_marked_go_too(estate: Estate) -> None:
    await estate.apply()
    estate.edit("nodes.yaml", r"  - name: talos-niobe\n(    .*\n)*", "")
    estate.edit("cluster.yaml", TEMPLATE.replace("{", r"\{").replace("}", r"\}"), "")

    planned_end = await ending(estate)
    await carry_out(estate, planned_end.plan)

    assert numbers(estate) == []


async def test_images_go_only_when_asked_to(estate: Estate) -> None:
    await estate.apply()

    kept = await ending(estate)
    pruned = await ending(estate, DestructionScope(prune=True))

    assert Stage.IMAGES not in {step.stage for step in kept.plan.steps}
    image = "cephfs:import/talos-376567988ad37013-v1.11.0-nocloud-amd64.qcow2"
    assert f"image {image} on trinity" in [change.what for change in pruned.changes]


async def test_users_tokens_and_roles_go_last_and_only_with_an_administrator(
    estate: Estate,
) -> None:
    await estate.apply()
    access = next(iter(estate.world.clusters.values())).state.access

    without = await ending(estate, administrator=False)
    planned_end = await ending(estate)
    await carry_out(estate, planned_end.plan)

    assert Stage.ACCESS not in {step.stage for step in without.plan.steps}
    drop = planned_end.plan.step("access/drop-user/pve/stockman@pve")
    assert {"vms/destroy/talos-neo", "vms/untemplate/pve/9000"} <= set(drop.needs)
    assert "stockman@pve" not in access.users
    assert not [name for name in access.roles if name.startswith("Stockman")]


async def test_what_was_made_for_parts_that_the_files_have_no_more_goes_too(
    estate: Estate,
) -> None:
    estate.edit("nodes.yaml", "host: niobe, ", "host: niobe, pool: homelab, ")
    await estate.apply()
    estate.edit("nodes.yaml", "pool: homelab, ", "")
    access = next(iter(estate.world.clusters.values())).state.access
    estate.pve.post("/access/users", userid="stockman-csi@pve", comment="proxmox-csi, by stockman")
    assert "StockmanPools" in access.roles

    await carry_out(estate, (await ending(estate)).plan)

    assert not [name for name in access.roles if name.startswith("Stockman")]
    assert not [name for name in access.users if name.startswith("stockman")]


async def test_a_user_that_somebody_else_made_stays(estate: Estate) -> None:
    await estate.apply()
    estate.pve.put("/access/users/stockman@pve", comment="of the whole company")

    planned_end = await ending(estate)

    assert "access/drop-user/pve/stockman@pve" not in [step.id for step in planned_end.plan.steps]
    assert not [step for step in planned_end.plan.steps if step.stage is Stage.ACCESS]


async def test_what_karpenter_made_is_said_to_stay(estate: Estate) -> None:
    await estate.apply()
    root = estate.pve
    root.done(root.post("/nodes/neo/qemu", vmid=20000, name="node-1", tags="karpenter"))

    planned_end = await ending(estate)

    assert planned_end.codes == ["destroy.karpenter"]


async def test_what_is_on_a_host_that_is_off_is_said_to_stay() -> None:
    estate = Estate("three-node")
    estate.edit("nodes.yaml", NO_HA, "")
    await estate.apply()
    next(iter(estate.world.clusters.values())).state.hosts["niobe"].has_power = False
    estate.world.advance(120)

    planned_end = await ending(estate)
    await carry_out(estate, planned_end.plan)

    assert "vm.left-behind" in planned_end.codes
    assert numbers(estate) == [1032]


async def test_an_image_of_a_first_boot_goes_with_its_machine() -> None:
    estate = Estate("three-node")
    estate.edit("cluster.yaml", "^node_default_gateway", "node_vlan_tag: 7\nnode_default_gateway")
    await estate.apply()

    await carry_out(estate, (await ending(estate)).plan)

    assert [volume for volume in await volumes(estate, "cephfs") if ":iso/" in volume] == []


async def test_pools_that_stockman_made_go_and_others_stay() -> None:
    estate = Estate("three-node")
    estate.pve.post("/pools", poolid="theirs")
    estate.edit("nodes.yaml", "host: niobe", "host: niobe, pool: ours")
    estate.edit("nodes.yaml", "host: neo", "host: neo, pool: theirs")
    await estate.apply()

    await carry_out(estate, (await ending(estate)).plan)

    assert list(next(iter(estate.world.clusters.values())).state.resource_pools) == ["theirs"]


async def test_guests_that_the_token_may_not_see_are_not_taken_for_gone(estate: Estate) -> None:
    await estate.apply()
    estate.pve.put("/access/roles/StockmanGuests", privs="VM.PowerMgmt")

    planned_end = await ending(estate, administrator=False)

    assert [error.code for error in planned_end.problems.errors] == ["proxmox.lacks-privilege"]
    assert planned_end.changes == ()


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
async def test_whoever_dies_anywhere_finishes_when_started_again(
    estate: Estate, *, after: bool
) -> None:
    await estate.apply()

    deaths = await died_at_every_call(estate, (await ending(estate)).plan.steps, after=after)

    assert deaths > 30
    assert numbers(estate) == []
    assert (await ending(estate)).changes == ()
