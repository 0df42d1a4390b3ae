"""Looking again at what a plan touches, before it begins."""

from __future__ import annotations

import pytest

from stockman.app.runs.plans import observe_plan_guests
from stockman.planning.stages.proxmox import digest_touched_guests
from tests.planning.estate import Estate

VMS = ("vm/pve/1030", "vm/pve/1032")


@pytest.mark.parametrize("is_made", [False, True])
async def test_what_a_plan_touches_looks_the_same_without_all_the_rest(is_made: bool) -> None:
    estate = Estate("three-node")
    if is_made:
        await estate.apply()
    everything = await estate.observe_all()

    touched = await observe_plan_guests(estate.desired, estate.ports(), (*VMS, "machine/neo"))

    assert digest_touched_guests(touched, VMS) == digest_touched_guests(everything, VMS)
    assert sorted(digest_touched_guests(touched, VMS)) == sorted(VMS)


async def test_nothing_but_the_guests_that_a_plan_touches_is_looked_at() -> None:
    estate = Estate("three-node")
    await estate.apply()
    del estate.trigger.log[:]

    await observe_plan_guests(estate.desired, estate.ports(), VMS[:1])

    requests = [request.partition(" ")[2] for request in estate.trigger.log]
    login = ("GET /version", "GET /access/permissions")
    assert [request for request in requests if request not in login] == [
        "GET /cluster/resources",
        "GET /nodes/trinity/qemu/1030/pending",
        "GET /nodes/trinity/qemu/1030/status/current",
    ]


async def test_where_no_guest_is_touched_nobody_is_asked() -> None:
    estate = Estate("three-node")

    assert await observe_plan_guests(estate.desired, estate.ports(), ("machine/neo",)) == {}
    assert estate.trigger.log == []
