"""Hosts, storages and VMs: what is told of them, and of what follows from it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest
from stockman_lab.core.faults import Effect, Point
from stockman_lab.pve.access.identity import Caller

from stockman.assessment.status.findings import Health, StatusCheck
from stockman.assessment.status.observed import StatusInput
from stockman.assessment.status.status import assess
from stockman.model.guest import Guest, GuestVm
from stockman.model.names import GuestName, HostName, Vmid
from stockman.model.problem import Severity
from stockman.planning.fact import Fact
from stockman.proxmox.cluster import GuestSummary, HostSummary
from tests.app.status.scene import NEO, NIOBE, TRINITY, Scene, codes, severity

GIB = 1 << 30
VM = GuestVm(uuid=UUID(int=1), bios="seabios")


def test_a_cluster_that_works_has_no_problem(simulation: Scene) -> None:
    assert simulation.codes() == {}


def test_a_host_that_dies_is_told_once_and_not_for_everything_on_it(simulation: Scene) -> None:
    simulation.lose_host("niobe")

    status = simulation.status()

    own = codes(
        section
        for section in status.parts
        if section.check not in (StatusCheck.CERTIFICATES, StatusCheck.FLUX)
    )
    assert own == {"status.host-offline": ["niobe"]}
    assert not status.healthy
    node = next(one for one in status.nodes if one.name == NIOBE)
    assert node.vm is not None
    assert (node.vm.summary, node.machine.summary, node.etcd) == (
        "niobe is offline",
        "no answer",
        "unknown",
    )
    assert node.health is Health.ERROR
    assert all(one.health is Health.OK for one in status.nodes if one.name != NIOBE)


def test_parts_that_stand_on_a_dead_host_are_not_shown_as_good(simulation: Scene) -> None:
    simulation.lose_host("niobe")

    for check in (StatusCheck.VMS, StatusCheck.TALOS, StatusCheck.ETCD, StatusCheck.KUBERNETES):
        assert not simulation.status([check]).healthy, check


def test_a_cluster_without_quorum_says_so(simulation: Scene) -> None:
    simulation.lose_host("niobe")
    simulation.lose_host("neo")

    found = simulation.codes(StatusCheck.PROXMOX, StatusCheck.ETCD)

    assert found["status.proxmox-quorum"] == ["pve"]
    assert found["status.etcd-quorum"] == ["etcd"]


def test_an_api_that_does_not_answer_leaves_vms_unknown(simulation: Scene) -> None:
    simulation.fault(Point.REQUEST, Effect.FAIL)

    status = simulation.status()

    own = codes(
        section
        for section in status.parts
        if section.check in (StatusCheck.PROXMOX, StatusCheck.VMS)
    )
    assert own == {"status.proxmox-silent": ["pve"], "status.unknown": ["3 VMs"]}
    assert [node.vm.health for node in status.nodes if node.vm is not None] == [Health.UNKNOWN] * 3
    talos = status.part(StatusCheck.TALOS)
    assert talos is not None
    assert talos.health is Health.OK


def test_a_vm_that_was_stopped_is_told_with_the_command_that_starts_it(simulation: Scene) -> None:
    simulation.stop(NEO)

    status = simulation.status()

    assert codes(
        section for section in status.parts if section.check is not StatusCheck.CERTIFICATES
    ) == {"status.vm-stopped": [NEO]}
    problem = next(finding.problem for finding in status.findings if finding.subject == NEO)
    assert "`qm start 1031` on neo" in problem.fix


def test_a_vm_that_is_missing_is_told(simulation: Scene) -> None:
    simulation.want(NEO, vmid=Vmid(4711))

    assert simulation.codes(StatusCheck.VMS) == {"status.vm-missing": [NEO]}


def test_a_vm_that_the_token_may_not_see_is_not_said_to_be_missing(simulation: Scene) -> None:
    simulation.pve.post("/access/users", userid="blind@pve")
    simulation.pve.post("/access/users/blind@pve/token/lab", privsep=0)
    simulation.caller = Caller("blind@pve", "lab")

    found = simulation.status((StatusCheck.VMS,)).parts[0]

    assert codes((found,)) == {
        "status.unknown": ["the VM of " + one for one in (TRINITY, NEO, NIOBE)]
    }
    assert "VM.Audit on /vms" in found.findings[0].problem.why


def test_a_predecessor_that_came_back_is_told_with_how_it_stops(simulation: Scene) -> None:
    simulation.pve.done(simulation.pve.post("/nodes/niobe/qemu", vmid=1099, name=NEO))
    assert simulation.codes(StatusCheck.VMS) == {}
    simulation.pve.done(simulation.pve.post("/nodes/niobe/qemu/1099/status/start"))
    simulation.pve.world.advance(10)

    status = simulation.status([StatusCheck.VMS])

    assert codes(status.parts) == {"status.vm-twice": [NEO]}
    assert not status.healthy
    assert "`qm stop 1099` on niobe" in status.findings[0].problem.fix


def test_a_vm_on_another_host_works_and_is_told(simulation: Scene) -> None:
    simulation.want(NEO, host=HostName("trinity"))

    status = simulation.status([StatusCheck.VMS, StatusCheck.KUBERNETES])

    assert codes(status.parts) == {"status.vm-elsewhere": [NEO]}
    assert severity(status, "status.vm-elsewhere") is Severity.WARNING
    assert status.healthy


def test_another_guest_with_the_number_of_a_node_is_not_taken_for_it(simulation: Scene) -> None:
    simulation.want(NEO, uuid=UUID(int=7))

    status = simulation.status(
        [StatusCheck.VMS, StatusCheck.TALOS, StatusCheck.ETCD, StatusCheck.KUBERNETES]
    )

    assert codes(status.parts) == {"status.vm-identity": [NEO]}
    assert not status.healthy


def test_a_vm_that_somebody_renamed_is_told_with_how_it_gets_its_name_back(
    simulation: Scene,
) -> None:
    simulation.pve.put("/nodes/neo/qemu/1031/config", name="strange")

    status = simulation.status([StatusCheck.VMS])

    assert codes(status.parts) == {"status.vm-identity": [NEO]}
    assert status.findings[0].problem.fix == f"run `qm set 1031 --name {NEO}` on neo"


def test_a_locked_vm_is_told(simulation: Scene) -> None:
    simulation.pve.put("/nodes/neo/qemu/1031/config", lock="backup")

    assert simulation.codes(StatusCheck.VMS) == {"status.vm-locked": [NEO]}


@pytest.mark.parametrize(
    ("values", "code"),
    [({"lock": "create"}, "status.vm-locked"), ({}, "status.vm-missing")],
    ids=["locked", "unlocked"],
)
def test_a_vm_whose_host_died_while_making_it_is_not_taken_for_another(
    simulation: Scene, values: dict[str, str], code: str
) -> None:
    simulation.pve.cluster.state.guests[1031].config.values = values

    status = simulation.status([StatusCheck.VMS])

    assert codes(status.parts) == {code: [NEO]}
    assert not status.healthy


def _with_guests(simulation: Scene) -> None:
    """Files with guests: one that is there, one of another name, one that is not."""
    names = {"talos-neo": 1031, "nas": 1030, "doorbell": 4711}
    hosts = {"talos-neo": "neo", "nas": "trinity", "doorbell": "neo"}
    guests = tuple(
        Guest(name=GuestName(name), vmid=Vmid(vmid), host=HostName(hosts[name]), vm=VM)
        for name, vmid in names.items()
    )
    simulation.desired = replace(simulation.desired, guests=guests)


def test_guests_beside_the_cluster_are_told(simulation: Scene) -> None:
    _with_guests(simulation)

    status = simulation.status([StatusCheck.VMS])

    assert codes(status.parts) == {
        "status.vm-identity": ["nas"],
        "status.guest-missing": ["doorbell"],
    }
    assert status.parts[0].summary == "3 of 3 run, 1 of 3 other guests run"


def test_a_guest_that_is_off_is_a_warning(simulation: Scene) -> None:
    guest = Guest(name=GuestName(NEO), vmid=Vmid(1031), host=HostName("neo"), vm=VM)
    nodes = tuple(node for node in simulation.desired.nodes if node.name != NEO)
    simulation.desired = replace(simulation.desired, guests=(guest,), nodes=nodes)
    simulation.stop(NEO)

    status = simulation.status([StatusCheck.VMS])

    assert codes(status.parts) == {"status.guest-stopped": [NEO]}
    assert status.healthy


def test_a_host_that_there_is_not_is_told(simulation: Scene) -> None:
    simulation.want(NEO, host=HostName("morpheus"))

    assert simulation.codes(StatusCheck.PROXMOX) == {"status.host-unknown": ["morpheus"]}


def test_without_an_address_a_proxmox_cluster_is_unknown(simulation: Scene) -> None:
    seen = simulation.look()
    nobody = replace(seen, observed=replace(seen.observed, proxmox={}))

    status = assess(nobody, [StatusCheck.PROXMOX, StatusCheck.VMS])

    assert [section.health for section in status.parts] == [Health.UNKNOWN, Health.UNKNOWN]
    assert not status.healthy


@pytest.mark.parametrize(
    ("used", "by_name"),
    [
        (89, {}),
        (91, {"status.storage-full": Severity.WARNING}),
        (98, {"status.storage-full": Severity.ERROR}),
    ],
)
def test_a_storage_is_told_before_it_is_full(
    simulation: Scene, used: int, by_name: dict[str, Severity]
) -> None:
    status = assess(_with_storage(simulation, used=used * GIB), [StatusCheck.PROXMOX])

    assert {
        finding.problem.code: finding.problem.severity for finding in status.findings
    } == by_name


def test_a_storage_that_cannot_be_used_is_told(simulation: Scene) -> None:
    status = assess(_with_storage(simulation, status="unknown"), [StatusCheck.PROXMOX])

    assert [finding.problem.code for finding in status.findings] == ["status.storage-gone"]


def _with_storage(simulation: Scene, **changes: Any) -> StatusInput:
    seen = simulation.look()
    proxmox = seen.observed.proxmox["pve"]
    assert isinstance(proxmox.resources, Fact)
    vm = simulation.desired.nodes[0].vm
    assert vm is not None
    room = {"size": 100 * GIB, "used": GIB, "free": None}
    fields: dict[str, Any] = {**room, "status": "available", **changes}
    storages = tuple(
        replace(storage, **fields) if storage.storage == vm.datastore else storage
        for storage in proxmox.resources.value.storages
    )
    assert any(storage.size == 100 * GIB for storage in storages)
    resources = replace(proxmox.resources.value, storages=storages)
    fresh = replace(proxmox, resources=replace(proxmox.resources, value=resources))
    return replace(seen, observed=replace(seen.observed, proxmox={"pve": fresh}))


def test_hosts_with_hardly_any_memory_are_told(simulation: Scene) -> None:
    seen = simulation.look()
    proxmox = seen.observed.proxmox["pve"]
    assert isinstance(proxmox.resources, Fact)
    full = HostSummary(
        host=HostName("neo"), status="online", memory=100 * GIB, memory_used=96 * GIB
    )
    resources = replace(proxmox.resources.value, hosts=(full,))
    fresh = replace(proxmox, resources=replace(proxmox.resources, value=resources))

    status = assess(
        replace(seen, observed=replace(seen.observed, proxmox={"pve": fresh})),
        [StatusCheck.PROXMOX],
    )

    assert codes(status.parts) == {"status.memory-full": ["neo"]}
    assert status.healthy


def test_a_guest_of_which_nothing_is_known_is_not_called_stopped(simulation: Scene) -> None:
    seen = simulation.look()
    proxmox = seen.observed.proxmox["pve"]
    assert isinstance(proxmox.resources, Fact)
    guests = tuple(
        GuestSummary(kind="qemu", vmid=guest.vmid, host=guest.host, name=guest.name)
        if guest.name == TRINITY
        else guest
        for guest in proxmox.resources.value.guests
    )
    resources = replace(proxmox.resources.value, guests=guests)
    fresh = replace(proxmox, resources=replace(proxmox.resources, value=resources))

    status = assess(
        replace(seen, observed=replace(seen.observed, proxmox={"pve": fresh})), [StatusCheck.VMS]
    )

    assert codes(status.parts) == {"status.unknown": [f"the VM of {TRINITY}"]}
    assert not status.healthy


def test_a_guest_that_is_only_watched_is_made_by_its_owner(simulation: Scene) -> None:
    _with_guests(simulation)
    watched = tuple(replace(guest, manage="observe") for guest in simulation.desired.guests)
    simulation.desired = replace(simulation.desired, guests=watched)

    status = simulation.status([StatusCheck.VMS])

    (missing,) = [finding for finding in status.findings if finding.subject == "doorbell"]
    assert "`manage: observe`" in missing.problem.fix
