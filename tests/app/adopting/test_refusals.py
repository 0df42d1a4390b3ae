"""Clusters that cannot be said in files are refused, with everything that stands in the way."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from stockman_lab.core.dice import Dice
from stockman_lab.pve.access.identity import Caller

from stockman.app.adoption.adopt import adopt_cluster
from stockman.app.adoption.observation import check_versions
from stockman.assessment.adoption.description import AdoptionFailed
from stockman.model.errors import StockmanError
from stockman.model.version import Version
from tests.app.adopting.running import WISH, Running, running
from tests.steps.talos_scene import NEO, NIOBE, TRINITY


def refused(running: Running) -> list[tuple[str, str]]:
    with pytest.raises(AdoptionFailed) as caught:
        running.adopted()
    return [(problem.code, problem.what) for problem in caught.value.problems if problem.is_error]


def test_a_kubeconfig_of_another_cluster_is_refused() -> None:
    found, other = running(), running("single")
    doors = replace(found.doors(), kubernetes=other.doors().kubernetes)

    with pytest.raises(StockmanError, match=r"adopt\.other-cluster"):
        asyncio.run(adopt_cluster(doors, WISH, Dice(5)))


def test_a_kubeconfig_with_another_authority_is_refused() -> None:
    found = running()
    doors = replace(found.doors(), authority=running("single").staged.bundle.certs.k8s.crt)

    with pytest.raises(AdoptionFailed, match="different clusters"):
        asyncio.run(adopt_cluster(doors, WISH, Dice(5)))


def test_a_machine_that_does_not_answer_is_named() -> None:
    found = running()
    found.world.talos.power_off(found.world.talos.machine(*found.staged.machines[NEO]))
    found.world.settle()

    with pytest.raises(StockmanError, match=rf"adopt\.silent: machine {NEO}"):
        found.adopted()


def test_a_talosconfig_that_names_nobody_is_refused() -> None:
    doors = replace(running().doors(), endpoints=())

    with pytest.raises(StockmanError, match=r"adopt\.no-machine"):
        asyncio.run(adopt_cluster(doors, WISH, Dice(5)))


def test_machines_without_a_vm_are_all_named_at_once() -> None:
    doors = replace(running().doors(), proxmox=running("single").doors().proxmox)

    with pytest.raises(AdoptionFailed) as caught:
        asyncio.run(adopt_cluster(doors, WISH, Dice(5)))

    assert [(problem.code, problem.where) for problem in caught.value.problems] == [
        ("adopt.no-vm", NEO),
        ("adopt.no-vm", NIOBE),
        ("adopt.no-vm", TRINITY),
    ]


def test_a_copy_with_the_same_uuid_is_refused() -> None:
    found = running()
    uuid = next(node.vm.uuid for node in found.staged.desired.nodes if node.vm is not None)
    found.pve.post("/nodes/neo/qemu", vmid=1099, name="copy", smbios1=f"uuid={uuid}")
    found.world.settle()

    assert refused(found) == [("adopt.vm-twice", f"several VMs could be machine {TRINITY}")]


def test_a_vm_of_another_name_is_to_be_renamed_first() -> None:
    found = running()
    found.pve.put(found.config(TRINITY), name="old-name")

    assert refused(found) == [
        ("adopt.vm-name", "VM 1030 (old-name) has another name than its machine")
    ]


def test_a_token_that_sees_no_vm_is_told_what_it_needs() -> None:
    found = running()
    found.pve.post("/access/users", userid="guest@pve")
    found.pve.put("/access/acl", path="/", users="guest@pve", roles="PVEAuditor", propagate=0)
    doors = found.doors(Caller("guest@pve"))

    with pytest.raises(AdoptionFailed) as caught:
        asyncio.run(adopt_cluster(doors, WISH, Dice(5)))

    assert {problem.fix for problem in caught.value.problems} == {
        "give the token VM.Audit on /vms; name the Proxmox cluster that the machine runs in"
    }


def test_an_auditor_may_adopt_and_is_told_what_a_run_would_need() -> None:
    found = running()
    found.pve.post("/access/users", userid="guest@pve")
    found.pve.put("/access/acl", path="/", users="guest@pve", roles="PVEAuditor")

    adoption = asyncio.run(adopt_cluster(found.doors(Caller("guest@pve")), WISH, Dice(5)))

    assert adoption.is_smooth
    assert {problem.code for problem in adoption.problems} == {"proxmox.lacks-privilege"}
    assert {problem.is_error for problem in adoption.problems} == {False}


def test_a_token_without_any_right_is_told_the_privilege_and_its_path() -> None:
    found = running()
    found.pve.post("/access/users", userid="guest@pve")

    with pytest.raises(StockmanError) as caught:
        asyncio.run(adopt_cluster(found.doors(Caller("guest@pve")), WISH, Dice(5)))

    assert "Sys.Audit" in f"{caught.value.problem}"


def test_several_versions_are_an_upgrade_under_way() -> None:
    with pytest.raises(StockmanError, match=r"adopt\.versions"):
        check_versions([Version.parse("1.12.6"), Version.parse("1.13.9")])


def test_a_version_that_nobody_knows_is_refused() -> None:
    with pytest.raises(StockmanError, match=r"adopt\.version:"):
        check_versions([Version.parse("1.9.5")])
