"""Rights of stockman's own token that the files ask for no more: given back last."""

from __future__ import annotations

from typing import cast

from stockman_lab.world.preset import pci_device

from stockman.planning.change import ChangeKind
from stockman.steps.access.roles import DeleteRole, RevokeRole
from tests.planning.estate import Estate, died_at_every_call, perform

USER = "stockman@pve"
GPU = {"address": "0000:01:00", "id": "10de:2571", "iommu": True, "name": "gpu"}
DEVICES = """
hosts:
  niobe:
    passthrough:
      pci:
        - {name: gpu, address: "0000:01:00"}
"""
PLAIN = "vm: {vmid: 1032, host: niobe}"
GIVEN = "vm: {vmid: 1032, host: niobe, machine: q35, pci: [{mapping: gpu}]}"


async def without_device() -> Estate:
    """Machines of which one had a device, which the files do not have any more."""
    estate = Estate("three-node")
    cluster = next(iter(estate.world.clusters.values()))
    cluster.state.hosts["niobe"].pci.append(pci_device(GPU, 21))
    estate.texts["nodes.yaml"] = estate.texts["nodes.yaml"].replace(PLAIN, GIVEN) + DEVICES
    await estate.apply()
    estate.texts["nodes.yaml"] = estate.texts["nodes.yaml"].replace(", pci: [{mapping: gpu}]", "")
    return estate


def rows(estate: Estate, path: str) -> list[dict[str, str]]:
    return cast("list[dict[str, str]]", estate.pve.get(path))


def held(estate: Estate) -> set[str]:
    """Who has a role on devices."""
    entries = rows(estate, "/access/acl")
    return {rule["ugid"] for rule in entries if rule["roleid"] == "StockmanPci"}


def roles(estate: Estate) -> set[str]:
    return {role["roleid"] for role in rows(estate, "/access/roles")}


async def test_an_administrator_reads_only_access_once_the_token_of_stockman_can_read() -> None:
    estate = await without_device()
    estate.trigger.log.clear()

    await estate.plan()

    by_administrator = {
        line.split()[2].split("/")[1]
        for line in estate.trigger.log
        if line.startswith("root@pam ") and "/cluster/mapping/" not in line
    }
    assert by_administrator == {"access"}


async def test_rights_on_devices_go_when_no_machine_has_one_and_everything_else_is_done() -> None:
    estate = await without_device()
    assert held(estate) == {USER, f"{USER}!stockman"}

    outcome = await estate.apply()

    kinds = [type(step.action).__name__ for step in outcome.plan.steps]
    assert kinds == ["ConfigureVm", "RestartVm", "RevokeRole", "RevokeRole", "DeleteRole"]
    (change,) = (change for change in outcome.changes if change.mark is ChangeKind.REMOVE)
    assert change.what == f"rights of {USER}!stockman in {estate.region}: StockmanPci"
    assert change.destroys == ""
    assert held(estate) == set()
    assert "StockmanPci" not in roles(estate)
    assert (await estate.plan()).changes == ()


async def test_rights_of_others_to_the_same_role_stay() -> None:
    estate = await without_device()
    estate.pve.post("/access/users", userid="anna@pve")
    estate.pve.put("/access/acl", path="/mapping/pci", users="anna@pve", roles="StockmanPci")

    await estate.apply()

    assert held(estate) == {"anna@pve"}
    assert "StockmanPci" in roles(estate)
    assert (await estate.plan()).changes == ()


async def test_roles_that_others_gave_stay() -> None:
    estate = await without_device()
    estate.pve.put("/access/acl", path="/mapping/pci", users=USER, roles="PVEMappingUser")

    await estate.apply()

    roles = {(row["roleid"], row["ugid"]) for row in rows(estate, "/access/acl")}
    assert ("PVEMappingUser", USER) in roles


async def test_nothing_goes_where_another_cluster_may_need_it() -> None:
    estate = await without_device()
    estate.edit("cluster.yaml", "^cluster_name: k8s$", "cluster_name: other")

    outcome = await estate.plan()

    actions = [type(step.action) for step in outcome.plan.steps]
    assert not {RevokeRole, DeleteRole} & {*actions}


async def test_without_an_administrator_nothing_is_given_back() -> None:
    estate = await without_device()
    outcome = await estate.apply(administrator=False)

    assert [type(step.action).__name__ for step in outcome.plan.steps] == [
        "ConfigureVm",
        "RestartVm",
    ]
    assert held(estate) == {USER, f"{USER}!stockman"}


async def test_whoever_dies_at_any_call_gives_everything_back_when_started_again() -> None:
    estate = await without_device()
    steps = (await estate.plan()).plan.steps
    for step in steps[:2]:
        await perform(step.action, estate.ports())

    deaths = await died_at_every_call(estate, steps[2:], after=None)

    assert deaths >= 6
    assert held(estate) == set()
    assert (await estate.plan()).changes == ()
