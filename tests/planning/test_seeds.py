"""Images with first configurations: delivered once, wherever a run is killed, and deleted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from stockman_lab.servers.talos_port import memory_talos

from stockman.model.errors import Refused
from stockman.model.problem import Problems
from stockman.planning.talos.desired import talos_machine
from stockman.planning.vm.seeds import SeedPlan, find_new_machines, plan_seed_removals
from stockman.steps.base import Action
from stockman.steps.ports import Ports
from stockman.steps.step import Stage, Step
from stockman.steps.vm.ownership import parse_mark, render_mark
from stockman.steps.vm.seed import SeedMachine
from stockman.talos.machine.masking import configuration_values
from tests.planning.estate import NO_HA, Estate, Killed, perform
from tests.steps.talos_scene import scene

NIOBE, VMID = "talos-niobe", 1032


class Seeded(Estate):
    """An estate whose VMs are made, and whose machines were never configured."""

    def ports(self, *, administrator: bool = True) -> Ports:
        return replace(super().ports(administrator=administrator), talos=memory_talos(self.world))

    async def delivery(self) -> SeedMachine:
        cluster = scene("three-node")
        node = next(one for one in cluster.desired.nodes if one.name == NIOBE)
        text = cluster.assembly.of(node).text()
        self.secrets.kept[f"machine:{NIOBE}"] = text.reveal()
        digest = configuration_values(text, "1.13").digest
        seen = {self.region: await self.observe()}
        new = find_new_machines(self.desired, seen, {}, (), Problems())[NIOBE]
        own = next(one for one in self.desired.nodes if one.name == NIOBE)
        return new.delivery(talos_machine(own), "1.13", digest)

    async def removals(self) -> Sequence[Step]:
        known = {str(node.name): () for node in self.desired.nodes}
        seeds = SeedPlan(configured=known, joined=known)
        changes = plan_seed_removals(self.desired, {self.region: await self.observe()}, seeds)
        return [step for change in changes for step in change.steps if step.node == NIOBE]

    @property
    def images(self) -> list[str]:
        volumes = next(iter(self.world.clusters.values())).state.volumes.values()
        return [volume.id for volume in volumes if volume.content == "iso"]


async def made() -> Seeded:
    estate = Seeded("three-node")
    estate.edit("nodes.yaml", NO_HA, "")
    await estate.apply()
    return estate


async def killed_everywhere(estate: Seeded, action: Action) -> None:
    """Kill a run after each of its calls, until it comes through."""
    for number in range(1, 60):
        estate.trigger.left, estate.trigger.after = number, True
        try:
            await perform(action, estate.ports())
        except Killed:
            continue
        estate.trigger.left = -1
        return
    raise AssertionError(action.summary)


async def test_an_image_is_delivered_and_deleted_wherever_runs_are_killed() -> None:
    estate = await made()
    seed = await estate.delivery()

    await killed_everywhere(estate, seed)
    delivered, drive = estate.images, estate.config(VMID)["ide2"]
    first = await estate.removals()
    for step in first:
        await killed_everywhere(estate, step.action)

    assert delivered == [seed.volume]
    assert drive.startswith(f"{seed.volume},media=cdrom")
    assert [step.id for step in first] == [f"vms/unseed/{NIOBE}", f"vms/complete/{NIOBE}"]
    assert {step.stage for step in first} == {Stage.TALOS}
    assert estate.images == []
    assert estate.config(VMID)["ide2"] == "none,media=cdrom"
    assert not estate.config(VMID)["description"].endswith(" new")
    assert await estate.removals() == []


async def test_a_vm_that_runs_is_powered_off_and_reads_the_image_when_it_starts() -> None:
    estate = await made()
    guest = next(iter(estate.world.clusters.values())).state.guests[VMID]
    before = guest.status

    await perform(await estate.delivery(), estate.ports())

    assert (before, guest.status) == ("running", "stopped")


async def test_a_vm_that_has_joined_gets_no_image_and_keeps_running() -> None:
    estate = await made()
    seed = await estate.delivery()
    for step in await estate.removals():
        await perform(step.action, estate.ports())
    guest = next(iter(estate.world.clusters.values())).state.guests[VMID]

    with pytest.raises(Refused, match=r"node\.first-config"):
        await perform(seed, estate.ports())

    seen = {estate.region: await estate.observe()}
    assert NIOBE not in find_new_machines(estate.desired, seen, {}, (), Problems())
    assert guest.status == "running"
    assert estate.images == []


async def test_a_node_that_kubernetes_knows_as_ready_is_not_new() -> None:
    estate = await made()
    seen = {estate.region: await estate.observe()}

    new = find_new_machines(estate.desired, seen, {}, {NIOBE}, Problems())

    assert NIOBE not in new
    assert len(new) == 2


async def test_a_vm_with_the_mark_of_another_cluster_gets_no_image() -> None:
    estate = await made()
    seed = await estate.delivery()
    values = next(iter(estate.world.clusters.values())).state.guests[VMID].config.values
    mark = parse_mark(values["description"])
    assert mark is not None
    values["description"] = render_mark(replace(mark, fingerprint="0123456789abcdef"), "")

    with pytest.raises(Refused, match=r"node\.first-config"):
        await perform(seed, estate.ports())

    assert estate.images == []
