"""A look at a Proxmox cluster that shows too little, or has too little."""

import asyncio
from dataclasses import replace

import pytest
from stockman_lab.core.faults import Effect, Fault, Point
from stockman_lab.servers.port import WorldClock, WorldWire

from stockman.app.init.proxmox_survey import free_vmids, survey_cluster
from stockman.model.errors import Denied, Refused
from stockman.model.names import Vmid
from stockman.model.problem import Problem
from stockman.proxmox.client import ProxmoxClient
from stockman.proxmox.cluster import Resources
from tests.app.looks import door, look, somebody, world

AUDIT = ("/", "Sys.Audit,Datastore.Audit,SDN.Audit")


class Asleep(ProxmoxClient):
    """A cluster that knows nothing of its hosts yet."""

    async def resources(self) -> Resources:
        seen = await super().resources()
        return replace(seen, hosts=tuple(replace(host, status="unknown") for host in seen.hosts))


class Full(ProxmoxClient):
    """A cluster in which every number is taken."""

    async def is_vmid_free(self, vmid: Vmid) -> bool:
        return False


def _parts() -> tuple[WorldWire, WorldClock]:
    made = world()
    return WorldWire(door(made)), WorldClock(made)


def trouble(*rights: tuple[str, str]) -> Problem:
    """Why a look of somebody with these rights comes to nothing."""
    made = world()
    with pytest.raises(Denied) as caught:
        look(made, caller=somebody(made, *rights))
    return caught.value.problem


@pytest.mark.parametrize(
    ("rights", "code", "text"),
    [
        ((), "proxmox.denied", "the token lacks Sys.Audit on /"),
        (
            (("/", "Sys.Audit"), ("/nodes", "VM.Audit")),
            "init.unseen",
            "the token lacks Sys.Audit on /nodes/",
        ),
        (
            (("/", "Sys.Audit"),),
            "init.unseen",
            "the token lacks Datastore.Audit or Datastore.AllocateSpace on /storage",
        ),
        (
            (("/", "Sys.Audit,Datastore.Audit"),),
            "init.unseen",
            "the token lacks SDN.Audit or SDN.Use on /sdn/zones/localnetwork",
        ),
    ],
)
def test_a_privilege_that_is_lacked_is_named_with_its_path(
    rights: tuple[tuple[str, str], ...], code: str, text: str
) -> None:
    problem = trouble(*rights)

    assert problem.code == code
    assert problem.what.startswith(text)


def test_devices_that_may_not_be_seen_are_told_and_do_not_stop_it() -> None:
    made = world()
    ada = somebody(made, AUDIT)
    made.faults.add(
        Fault(
            Point.REQUEST,
            Effect.FAIL,
            {"path": "/nodes/neo/hardware/pci"},
            status=403,
            message="Permission check failed (/nodes/neo, Sys.Modify)",
            times=None,
        )
    )

    observed = look(made, caller=ada).draft.observed

    assert any("PCI devices of neo" in clause for clause in observed.unseen)


def test_no_host_that_is_up_is_told() -> None:
    with pytest.raises(Refused) as caught:
        asyncio.run(survey_cluster(Asleep(*_parts())))

    assert caught.value.problem.code == "init.no-host"
    assert "neo: it is unknown" in caught.value.problem.why


def test_a_host_that_falls_silent_meanwhile_is_left_out() -> None:
    made = world()
    made.faults.add(
        Fault(
            Point.REQUEST,
            Effect.FAIL,
            {"path": "/nodes/neo/network"},
            status=595,
            message="No route to host",
            times=None,
        )
    )

    draft = look(made).draft

    assert [str(host.name) for host in draft.hosts] == ["niobe", "trinity"]
    assert [name for name, _ in draft.away] == ["neo"]


def test_the_search_for_numbers_comes_to_an_end() -> None:
    full = Full(*_parts())

    async def search() -> int:
        return await free_vmids(full, await survey_cluster(full), 3)

    with pytest.raises(Refused, match=r"init\.no-vmids"):
        asyncio.run(search())
