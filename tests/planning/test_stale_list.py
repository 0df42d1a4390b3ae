"""The list of guests is up to ten seconds old: nothing is decided by what it says about power."""

from __future__ import annotations

import pytest
from stockman_lab.core.faults import Effect, Fault, Point
from stockman_lab.pve.qemu.power import power_off

from stockman.model.names import Vmid
from stockman.planning.desired import ProxmoxOptions
from tests.planning.estate import Estate

VMID = 1030


async def applied() -> Estate:
    estate = Estate("three-node")
    await estate.apply()
    estate.world.advance(60)
    estate.pve.get("/cluster/resources")
    return estate


async def test_a_vm_that_was_just_switched_off_is_started_though_the_list_says_it_runs() -> None:
    estate = await applied()
    cluster = estate.pve.cluster
    power_off(cluster, cluster.state.guests[VMID])

    outcome = await estate.plan()

    rows = {row.get("vmid"): row for row in estate.pve.get("/cluster/resources")}
    assert rows[VMID]["status"] == "running"
    assert [step.id for step in outcome.plan.steps] == ["vms/start/talos-trinity"]


async def test_a_vm_whose_host_does_not_answer_is_unknown_though_the_list_says_it_runs() -> None:
    estate = await applied()
    path = {"path": f"/nodes/*/qemu/{VMID}/status/current"}
    estate.world.faults.add(Fault(Point.REQUEST, Effect.FAIL, path, status=595, times=None))

    observed = await estate.observe()

    guest = observed.guest(Vmid(VMID))
    assert guest is not None
    assert guest.status == "unknown"


async def test_the_name_of_a_new_vm_is_that_of_its_configuration() -> None:
    estate = await applied()
    cluster = estate.pve.cluster
    cluster.state.guests[VMID].changed_at = cluster.now
    cluster.state.guests[VMID].reported = {}

    observed = await estate.observe()

    guest = observed.guest(Vmid(VMID))
    assert guest is not None
    assert (guest.name, guest.status) == ("talos-trinity", "running")


@pytest.mark.parametrize("state", ["io-error", "internal-error"])
async def test_a_vm_that_qemu_halted_is_restarted_when_its_node_is_selected(state: str) -> None:
    estate = await applied()
    guest = estate.pve.cluster.state.guests[VMID]
    guest.halted = state
    selected = ProxmoxOptions(chosen=frozenset({"talos-trinity"}))

    unselected = await estate.plan()
    outcome = await estate.apply(options=selected)

    assert unselected.changes == ()
    assert [step.id for step in outcome.plan.steps] == ["vms/restart-halted/talos-trinity"]
    assert (guest.halted, guest.status) == ("", "running")
    assert (await estate.plan(options=selected)).changes == ()
