"""Clusters that run become files that mean what is there."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from stockman_lab.pve.api.call import Upload

from stockman.assessment.adoption.description import Adoption
from stockman.assessment.adoption.expected_plan import first_plan_files
from stockman.model.desired import Desired
from stockman.model.names import MachineAddress
from stockman.model.problem import Problems
from stockman.model.secret import Secret
from stockman.steps.step import Stage
from stockman.talos.machine.masking import changed_paths, configuration_values
from stockman.talos.records.operations import ApplyConfigurationRequest, ApplyMode
from tests.app.adopting.running import WISH, Running, running
from tests.planning.containers import small_system
from tests.steps.talos_scene import MIXED, NEO, NIOBE, TRINITY

VERSIONS = ("1.11.5", "1.12.6", "1.13.9", "1.14.1")
BY_HAND = """\
machine:
  sysctls:
    vm.nr_hugepages: "1024"
  certSANs:
    - talos.example.com
  kubelet:
    extraArgs:
      max-pods: "200"
    nodeIP:
      $patch: delete
  features:
    kubePrism:
      port: 7446
cluster:
  apiServer:
    auditPolicy:
      $patch: delete
  network:
    cni:
      name: flannel
  inlineManifests:
    - name: token
      contents: |
        apiVersion: v1
        kind: Secret
        metadata: {name: one}
        stringData: {token: swordfish}
"""
NO_NETWORK = """\
apiVersion: v1alpha1
kind: LinkConfig
name: net0
$patch: delete
---
apiVersion: v1alpha1
kind: ResolverConfig
$patch: delete
"""
OWNERSHIP = ["description", "tags"]


def desired_of(adoption: Adoption) -> Desired:
    problems = Problems()
    desired = adoption.draft.load_desired(problems)
    assert [problem for problem in problems if problem.is_error] == []
    assert desired is not None
    return desired


def left_over(running: Running, adoption: Adoption) -> dict[str, tuple[str, ...]]:
    """Places at which files and machines differ, by node."""
    desired = desired_of(adoption)
    assert desired.cluster is not None
    minor = desired.cluster.talos.version.minor_text
    assembly = adoption.draft.assembly(desired, adoption.bundle)
    talos = running.doors().talos
    different = {}
    for node in desired.nodes:
        address = MachineAddress(str(node.address.ip))
        live = asyncio.run(talos.machine_configuration(address))
        ours = assembly.of(node).text()
        different[str(node.name)] = changed_paths(
            configuration_values(ours, minor), configuration_values(live, minor)
        )
    return {name: places for name, places in different.items() if places}


def changed_keys(adoption: Adoption) -> dict[str, list[str]]:
    """What a plan would change, by node."""
    return {
        change.node: change.description.partition(": ")[2].split(", ")
        for change in adoption.expected
        if change.stage is Stage.VMS
    }


@pytest.mark.parametrize("version", VERSIONS)
def test_files_say_what_the_machines_have_and_only_ownership_is_left_to_change(
    version: str,
) -> None:
    found = running(MIXED, version)

    adoption = found.adopted()

    assert left_over(found, adoption) == {}
    assert changed_keys(adoption) == dict.fromkeys((TRINITY, NEO, NIOBE), OWNERSHIP)
    assert adoption.unsafe == ()
    assert [problem for problem in adoption.problems if problem.is_error] == []
    assert adoption.bundle == found.staged.bundle


def test_what_somebody_wanted_otherwise_becomes_patches_until_nothing_differs() -> None:
    found = running(patches=(BY_HAND,))

    adoption = found.adopted()

    assert left_over(found, adoption) == {}
    assert adoption.unsafe == ()
    assert "swordfish" not in "".join((*adoption.draft.patches.values(), str(adoption.draft)))
    assert any("swordfish" in secret.reveal() for secret in adoption.draft.secrets.values())
    assert "flannel" in adoption.draft.patches["talos/adopted/all.yaml"]


def test_what_only_one_machine_has_is_a_patch_of_its_own() -> None:
    found = running()
    talos = found.doors().talos
    address = MachineAddress("127.67.0.17")
    text = asyncio.run(talos.machine_configuration(address)).reveal()
    other = text.replace("machine:\n", 'machine:\n    sysctls:\n        a.b: "1"\n', 1)
    apply_configuration_request = ApplyConfigurationRequest(
        text=Secret(other), mode=ApplyMode.NO_REBOOT
    )
    asyncio.run(talos.apply_configuration(address, apply_configuration_request))

    adoption = found.adopted()

    assert adoption.draft.patches[f"talos/adopted/{NEO}.yaml"] == (
        'machine:\n  sysctls:\n    a.b: "1"\n'
    )
    assert left_over(found, adoption) == {}


@pytest.mark.parametrize("pve", ["8.4", "9.1"])
def test_hardware_that_was_set_by_hand_is_described_and_not_changed(pve: str) -> None:
    found = running(pve=pve)
    door = found.pve
    door.post("/pools", poolid="prod")
    door.put("/pools", poolid="prod", vms="1030")
    door.put(
        found.config(TRINITY),
        cpu="host,flags=+aes",
        startup="order=2,up=30",
        balloon="4096",
        tags="prod;web",
        description="Ask **Ann** first.\n",
        protection=1,
        numa=1,
        scsi1="ceph-vm-disks:20,serial=media,ssd=1",
        scsi2="ceph-vm-disks:5",
        net1="virtio=BC:24:11:0A:0B:0C,bridge=vmbr0,tag=7,firewall=1,queues=4",
    )
    door.put(found.config(NEO), boot="order=scsi0;ide2", vga="serial0", agent="enabled=1")
    door.post("/cluster/ha/resources", sid="vm:1032", max_restart=2, state="started")
    found.world.settle()

    adoption = found.adopted()

    assert changed_keys(adoption) == dict.fromkeys((TRINITY, NEO, NIOBE), OWNERSHIP)
    assert adoption.unsafe == ()
    first, second, third = (node.vm for node in desired_of(adoption).nodes)
    assert first is not None
    assert second is not None
    assert third is not None
    assert (first.cpu_type, first.balloon, first.pool) == ("host,flags=+aes", 4096, "prod")
    assert first.tags == ("prod", "web")
    assert first.description == "Ask **Ann** first."
    assert [data_disk.name for data_disk in first.data_disks] == ["media"]
    assert [(nic.vlan_id, nic.queues) for nic in first.nics] == [(3, None), (7, 4)]
    assert (second.vga, second.agent) == ("serial0", True)
    assert third.ha is not None
    assert third.ha.max_restart == 2
    assert [
        problem.where for problem in adoption.problems if problem.code == "adopt.loose-disk"
    ] == [TRINITY]


def test_a_cluster_that_stockman_made_needs_no_change_at_all() -> None:
    found = running()
    for node in (TRINITY, NEO, NIOBE):
        tags = "stockman;stockman-k8s"
        found.pve.put(found.config(node), tags=tags, description=f"stockman: k8s/{node}\n")

    adoption = found.adopted()

    assert adoption.expected == first_plan_files("k8s")
    assert left_over(found, adoption) == {}
    assert [node.vm.tags for node in desired_of(adoption).nodes if node.vm is not None] == [()] * 3


def test_what_a_drive_tells_a_machine_is_safe_where_its_configuration_overrules_it() -> None:
    found = running("single")
    node, _ = _with_drive(found)

    adoption = found.adopted()

    assert changed_keys(adoption)[node] == ["ipconfig0", "nameserver", *OWNERSHIP]
    assert adoption.unsafe == ()


def test_what_only_a_drive_tells_a_machine_is_kept_as_it_is() -> None:
    found = running("single", patches=(NO_NETWORK,))
    node, address = _with_drive(found)
    found.pve.put(found.config(node), ipconfig0=f"gw=127.67.0.1,ip={address}/16")
    found.world.settle()

    adoption = found.adopted()

    assert changed_keys(adoption)[node] == OWNERSHIP
    assert left_over(found, adoption) == {}


def _with_drive(running: Running) -> tuple[str, str]:
    """The only node and its address; its VM gets a drive that tells it to ask by DHCP."""
    node, vm = running.staged.desired.nodes[0], running.staged.desired.nodes[0].vm
    assert vm is not None
    drive = f"{vm.datastore}:cloudinit"
    running.pve.put(running.config(str(node.name)), ide0=drive, ipconfig0="ip=dhcp")
    running.world.settle()
    return str(node.name), str(node.address.ip)


def test_what_files_cannot_say_is_told_and_counts_as_unsafe() -> None:
    found = running("single")
    node = next(iter(found.staged.machines))
    found.pve.put(found.config(node), machine="pc-q35-9.0")
    found.world.settle()

    adoption = found.adopted()

    assert [change.node for change in adoption.unsafe] == [node]
    assert {"adopt.lost", "adopt.differs"} <= {problem.code for problem in adoption.problems}
    assert adoption.has_losses
    assert not adoption.is_smooth


def test_other_guests_are_watched_and_never_changed() -> None:
    found = running()
    _with_guests(found)

    adoption = found.adopted()

    guests = {guest.name: guest for guest in desired_of(adoption).guests}
    assert set(guests) == {"web", "dns"}
    assert {guest.manage for guest in guests.values()} == {"observe"}
    assert set(changed_keys(adoption)) == {TRINITY, NEO, NIOBE}
    assert [problem.what for problem in adoption.problems if problem.code == "adopt.guest"] == [
        "VM 901 (Big.Box) is not in the files"
    ]


def test_other_guests_are_looked_after_where_that_is_asked_for_and_possible() -> None:
    found = running()
    _with_guests(found)

    adoption = found.adopted(replace(WISH, manages_guests=True))

    guests = {guest.name: guest.manage for guest in desired_of(adoption).guests}
    assert guests == {"web": "full", "dns": "observe"}
    assert changed_keys(adoption)["web"] == OWNERSHIP
    assert adoption.unsafe == ()


def _with_guests(running: Running) -> None:
    pve = running.pve
    disk = "ceph-vm-disks:10"
    pve.post("/nodes/neo/qemu", vmid=900, name="web", scsi0=disk, memory=4096, cores=2)
    pve.post("/nodes/neo/qemu", vmid=901, name="Big.Box", scsi0=disk)
    pve.post("/nodes/neo/qemu", vmid=902, name="base", scsi0=disk)
    running.world.settle()
    pve.post("/nodes/neo/qemu/902/template")
    pve.put("/storage/cephfs", content="import,iso,vztmpl")
    pve.reply(
        "POST",
        "/nodes/neo/storage/cephfs/upload",
        {"content": "vztmpl", "filename": "debian.tar.gz"},
        Upload("debian.tar.gz", small_system()),
    )
    running.world.settle()
    pve.post(
        "/nodes/neo/lxc",
        vmid=910,
        hostname="dns",
        ostemplate="cephfs:vztmpl/debian.tar.gz",
        rootfs="ceph-vm-disks:4",
        features="keyctl=1,nesting=1",
        unprivileged=1,
    )
    running.world.settle()


def test_an_api_that_machines_reach_by_a_name_keeps_it() -> None:
    named = "cluster: {controlPlane: {endpoint: 'https://api.example.com:6443'}}\n"
    found = running("single", patches=(named,))

    adoption = found.adopted()

    cluster = desired_of(adoption).cluster
    assert cluster is not None
    assert cluster.kubernetes.api_endpoint == "https://api.example.com:6443"
    assert left_over(found, adoption) == {}
    assert adoption.is_smooth
