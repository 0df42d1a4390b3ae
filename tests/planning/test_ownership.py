"""Whose a guest is: only what is proven to be a guest of this cluster is ever deleted."""

from __future__ import annotations

import asyncio
import re

import pytest
from stockman_lab.world.preset import pci_device

from stockman.model.errors import Refused
from stockman.model.names import HostName, MachineAddress
from stockman.model.problem import Problems
from stockman.model.proxmox_values import parse_properties
from stockman.planning.change import ProxmoxChange
from stockman.planning.desired import DesiredState
from stockman.planning.destruction import DestructionScope, plan_destruction
from stockman.planning.observed.systems import Observed
from stockman.planning.observed.talos import ObservedTalos
from stockman.planning.plan import compose_plan
from stockman.steps.access.admin import admin_client_name
from stockman.steps.access.mapping import MapDevices, MappedDevice
from stockman.steps.etcd.view import EtcdReport, ObservedEtcd
from stockman.steps.vm.disks import KEEPER
from stockman.steps.vm.placement import RemoveFromHaRule
from tests.planning.estate import FINGERPRINT, NO_HA, Estate, perform

OTHER = "ffffffffffffffff"
NIOBE = r"  - name: talos-niobe\n(    .*\n)*"


@pytest.fixture
def estate() -> Estate:
    """Three machines that stockman created."""
    estate = Estate("three-node")
    estate.edit("nodes.yaml", NO_HA, "")
    asyncio.run(estate.apply())
    return estate


async def destruction(estate: Estate) -> tuple[tuple[ProxmoxChange, ...], Problems]:
    problems = Problems()
    observed = await estate.observe_all()
    extent = DestructionScope(access=False)
    return plan_destruction(estate.desired, observed, problems, extent), problems


def destroyed(changes: tuple[ProxmoxChange, ...]) -> list[str]:
    return sorted(change.node for change in changes if change.destroys)


def cloned(estate: Estate, vmid: int, name: str) -> None:
    """Somebody clones VM 1032."""
    root = estate.pve
    root.done(root.post("/nodes/niobe/qemu/1032/clone", newid=vmid, name=name))
    estate.world.settle()


async def test_the_mark_names_the_fingerprint_and_the_guest_that_it_was_written_for(
    estate: Estate,
) -> None:
    config = estate.config(1032)
    uuid = re.search(r"uuid=([0-9a-f-]+)", config["smbios1"])

    assert uuid is not None
    assert config["description"] == (
        f"stockman: k8s/talos-niobe id={FINGERPRINT} guest=pve/1032/{uuid[1]} new"
    )
    assert (await estate.plan()).changes == ()


@pytest.mark.parametrize("name", ["talos-niobe", "trial"])
async def test_a_clone_is_reported_and_never_deleted(estate: Estate, name: str) -> None:
    cloned(estate, 500, name)

    outcome = await estate.plan()
    changes, problems = await destruction(estate)

    assert outcome.changes == ()
    assert outcome.codes == ["vm.copy"]
    assert f"VM 500 ({name}) on niobe is a copy of talos-niobe (VM 1032)" in str(
        next(iter(outcome.problems)).what
    )
    assert destroyed(changes) == ["talos-neo", "talos-niobe", "talos-trinity"]
    assert [problem.code for problem in problems] == ["vm.copy"]


@pytest.mark.parametrize("gone", [False, True], ids=["beside its original", "alone"])
async def test_a_guest_restored_under_another_vmid_is_reported_and_never_deleted(
    estate: Estate, gone: bool
) -> None:
    # PVE::QemuServer::restore_merge_config keeps everything without `unique`, also the UUID.
    kept = ("name", "tags", "description", "smbios1", "net0")
    values = {key: estate.config(1032)[key] for key in kept}
    root = estate.pve
    root.done(root.post("/nodes/niobe/qemu", vmid=500, **values))
    if gone:
        root.done(root.post("/nodes/niobe/qemu/1032/status/stop"))
        root.done(root.delete("/nodes/niobe/qemu/1032"))
        estate.edit("nodes.yaml", NIOBE, "")

    outcome = await estate.plan()
    changes, problems = await destruction(estate)

    assert outcome.plan.destroys == ()
    assert outcome.codes == ["vm.copy"]
    assert [problem.code for problem in problems] == ["vm.copy"]
    assert all("500" not in change.what for change in changes)


async def test_a_clone_stays_when_its_original_left_the_files(estate: Estate) -> None:
    cloned(estate, 500, "talos-niobe")
    estate.edit("nodes.yaml", NIOBE, "")

    outcome = await estate.plan()

    assert outcome.plan.destroys == ("VM 1032 (talos-niobe) on niobe with its system disk",)
    assert outcome.codes == ["vm.copy"]


async def test_a_second_directory_of_the_same_name_touches_no_guest_of_the_first(
    estate: Estate,
) -> None:
    estate.fingerprint = OTHER

    same = await estate.plan()
    changes, problems = await destruction(estate)
    estate.edit("nodes.yaml", "vmid: 103", "vmid: 113")
    elsewhere = await estate.plan()
    estate.edit("nodes.yaml", "name: talos-", "name: other-")
    unrelated = await estate.plan()

    assert (same.codes, same.plan.steps) == (["vm.other-cluster"] * 3, ())
    assert FINGERPRINT in next(iter(same.problems)).why
    assert destroyed(changes) == []
    assert [problem.code for problem in problems] == ["destroy.not-ours"] * 3
    assert elsewhere.plan.destroys == ()
    assert elsewhere.codes.count("vm.other-cluster") == 3
    assert unrelated.plan.destroys == ()
    assert "vm.other-cluster" not in unrelated.codes


async def test_without_a_fingerprint_nothing_is_deleted(estate: Estate) -> None:
    estate.fingerprint = ""
    estate.edit("nodes.yaml", NIOBE, "")

    outcome = await estate.plan()
    changes, _ = await destruction(estate)

    assert outcome.plan.destroys == ()
    assert destroyed(changes) == []


def with_old_marks(estate: Estate) -> None:
    for vmid, name in ((1030, "trinity"), (1031, "neo"), (1032, "niobe")):
        path = f"/nodes/{name}/qemu/{vmid}/config"
        estate.pve.put(path, description=f"stockman: k8s/talos-{name}")


async def test_an_old_mark_is_renewed_by_a_step_that_destroys_nothing(estate: Estate) -> None:
    with_old_marks(estate)

    changes, problems = await destruction(estate)
    outcome = await estate.apply()

    assert destroyed(changes) == []
    assert [problem.code for problem in problems] == ["destroy.old-mark"] * 3
    assert outcome.plan.destroys == ()
    assert {step.id.partition("/talos")[0] for step in outcome.plan.steps} == {"vms/configure"}
    assert FINGERPRINT in estate.config(1032)["description"]
    assert (await estate.plan()).changes == ()
    assert len(destroyed((await destruction(estate))[0])) == 3


async def test_an_old_mark_alone_deletes_nothing(estate: Estate) -> None:
    with_old_marks(estate)
    estate.edit("nodes.yaml", NIOBE, "")

    outcome = await estate.plan()

    assert outcome.plan.destroys == ()
    assert outcome.codes == ["vm.old-mark"]


@pytest.mark.parametrize(
    "description",
    [
        "",
        "stockman: k8s/talos-niobe",
        f"stockman: k8s/talos-niobe id={OTHER} guest=pve/1032/x",
        f"stockman: k8s/talos-niobe id={FINGERPRINT} guest=pve/1032",
        f"stockman: k8s/talos-niobe id={FINGERPRINT} guest=pve/1033/x",
    ],
)
async def test_a_guest_whose_mark_changed_after_the_plan_is_not_deleted(
    estate: Estate, description: str
) -> None:
    estate.edit("nodes.yaml", NIOBE, "")
    step = (await estate.plan()).plan.step("vms/destroy/talos-niobe")
    estate.pve.put("/nodes/niobe/qemu/1032/config", description=description)

    with pytest.raises(Refused) as refused:
        await perform(step.action, estate.ports())

    assert refused.value.problem.code == "vm.unproven"
    assert estate.config(1032)["name"] == "talos-niobe"


async def test_a_guest_without_the_tag_is_not_deleted(estate: Estate) -> None:
    estate.pve.put("/nodes/niobe/qemu/1032/config", tags="keep")
    estate.edit("nodes.yaml", NIOBE, "")

    assert (await estate.plan()).plan.destroys == ()


async def test_another_vmid_replaces_the_machine_only_while_the_new_one_does_not_exist(
    estate: Estate,
) -> None:
    estate.edit("nodes.yaml", "vmid: 1032", "vmid: 1132")

    outcome = await estate.plan()

    assert outcome.plan.destroys == ("VM 1032 (talos-niobe) on niobe with its system disk",)


async def test_a_clone_that_is_configured_becomes_the_machine_and_the_other_one_stays(
    estate: Estate,
) -> None:
    cloned(estate, 1132, "talos-niobe")
    root = estate.pve
    root.put("/nodes/niobe/qemu/1132/config", smbios1=estate.config(1032)["smbios1"])
    estate.edit("nodes.yaml", "vmid: 1032", "vmid: 1132")

    outcome = await estate.plan()

    assert outcome.plan.destroys == ()
    assert "vm.second" in outcome.codes


async def test_rights_are_kept_while_another_cluster_of_the_same_name_has_guests(
    estate: Estate,
) -> None:
    estate.fingerprint = OTHER
    problems = Problems()

    changes = plan_destruction(estate.desired, await estate.observe_all(), problems)

    assert changes == ()
    kept = next(problem for problem in problems if problem.code == "destroy.access-shared")
    assert f"k8s ({FINGERPRINT})" in kept.why


@pytest.mark.parametrize("slot", ["scsi0", "scsi5", "unused3"])
async def test_a_file_that_somebody_put_into_the_directory_of_a_machine_blocks_its_deletion(
    estate: Estate, slot: str
) -> None:
    root = estate.pve
    root.post("/storage", storage="share", type="dir", path="/share", content="images")
    photos = {"vmid": 1032, "filename": "photos.qcow2", "size": "1G", "format": "qcow2"}
    root.post("/nodes/niobe/storage/share/content", **photos)
    root.done(root.post("/nodes/niobe/qemu/1032/status/stop"))
    guest = next(iter(estate.world.clusters.values())).state.guests[1032]
    guest.config.values[slot] = "share:1032/photos.qcow2"
    changes, destroying = await destruction(estate)
    estate.edit("nodes.yaml", NIOBE, "")

    outcome = await estate.plan()

    for problems in (destroying, outcome.problems):
        (refused,) = problems.errors
        assert refused.code == "vm.data-disk"
        assert "share:1032/photos.qcow2" in refused.why
    assert "talos-niobe" in destroyed(changes)
    with pytest.raises(Refused, match=r"vm\.data-disk"):
        await perform(outcome.plan.step("vms/destroy/talos-niobe").action, estate.ports())


async def test_a_plan_names_the_guests_that_it_destroys(estate: Estate) -> None:
    estate.edit("nodes.yaml", "vmid: 1032", "vmid: 1132")

    outcome = await estate.plan()

    assert outcome.plan.destroyed_guests == ("talos-niobe",)


async def test_other_devices_of_the_same_host_stay_in_a_mapping(estate: Estate) -> None:
    gpus = [
        {"address": f"0000:0{slot}:00", "id": "10de:2571", "iommu": True, "name": "gpu"}
        for slot in (1, 2)
    ]
    host = next(iter(estate.world.clusters.values())).state.hosts["niobe"]
    host.pci += [pci_device(gpu, 20 + number) for number, gpu in enumerate(gpus)]
    by_hand = "node=niobe,path=0000:02:00.0,id=10de:2571"
    root = estate.pve
    root.post("/cluster/mapping/pci", id="gpu", map=[by_hand])
    device = MappedDevice(host=HostName("niobe"), place="0000:01:00.0")

    await perform(
        MapDevices(cluster=estate.region, name="gpu", bus="pci", devices=(device,)), estate.ports()
    )

    ports = estate.ports()
    (mapping,) = await ports.on(admin_client_name(estate.region)).mappings("pci")
    paths = {parse_properties(entry)["path"] for entry in mapping.entries}
    assert paths == {"0000:01:00.0", "0000:02:00.0"}


async def test_a_rule_that_somebody_else_made_is_not_changed(estate: Estate) -> None:
    root = estate.pve
    root.post("/cluster/ha/resources", sid="vm:1032", state="stopped")
    rule = {"rule": "theirs", "type": "node-affinity", "resources": "vm:1032", "nodes": "niobe"}
    root.post("/cluster/ha/rules", **rule)
    action = RemoveFromHaRule(cluster=estate.region, rule="theirs", resources=("vm:1032",))

    assert await perform(action, estate.ports()) is False

    assert list(next(iter(estate.world.clusters.values())).state.ha_rules) == ["theirs"]


async def test_a_kept_disk_on_local_storage_refuses_a_move_before_anything_is_stopped(
    estate: Estate,
) -> None:
    root = estate.pve
    root.post("/storage", storage="share", type="dir", path="/share", content="images")
    guest = next(iter(estate.world.clusters.values())).state.guests[1032]
    guest.config.values["scsi5"] = f"share:{KEEPER}/vm-{KEEPER}-k8s-talos-niobe-data.raw,size=1G"
    estate.edit("nodes.yaml", "vmid: 1032, host: niobe", "vmid: 1032, host: neo")

    outcome = await estate.plan()

    assert [problem.code for problem in outcome.problems.errors] == ["vm.cannot-move"]
    assert f"vm-{KEEPER}-k8s-talos-niobe-data.raw" in next(iter(outcome.problems.errors)).why


@pytest.mark.parametrize("state", ["silent", "no etcd yet"])
async def test_a_machine_is_not_removed_while_nobody_knows_who_is_in_etcd(
    estate: Estate, state: str
) -> None:
    estate.edit("nodes.yaml", NIOBE, "")
    now = estate.clock.now()
    reports = {
        "silent": EtcdReport(node="talos-neo", why="connection refused"),
        "no etcd yet": EtcdReport(node="talos-neo", state="Preparing", has_data=False),
    }
    observed = Observed(
        at=now,
        proxmox=await estate.observe_all(),
        talos=ObservedTalos(seen_at=now, machines={}, etcd=ObservedEtcd(answers=(reports[state],))),
        leaving={"talos-niobe": MachineAddress("127.66.0.18")},
    )

    planned = compose_plan(DesiredState(desired=estate.desired), observed, now)

    assert ("plan.removal-unknown" in [problem.code for problem in planned.problems.errors]) is (
        state == "silent"
    )
