"""VMs that somebody changed, stopped or deleted: told with author and correction, and put right."""

from __future__ import annotations

import pytest

from stockman.assessment.drift.report import DriftSeverity, DriftValue, Layer
from tests.app.drift.scene import FIRST, NEO, TRINITY, Scene

CONFIG = f"/nodes/trinity/qemu/{FIRST}/config"


def test_a_cluster_that_was_just_made_has_no_drift(scene: Scene) -> None:
    report = scene.find()

    assert (report.drifts, report.unknown, report.ignored, report.expired) == ((), (), (), ())
    assert set(report.states.values()) == {"same"}


def test_no_drift_is_seen_without_an_administrator_either(scene: Scene) -> None:
    report = scene.find(administrator=False)

    assert (report.drifts, report.unknown) == ((), ())


def test_memory_that_somebody_changed_is_told_with_who_when_and_how_to_correct_it(
    scene: Scene,
) -> None:
    mary = scene.person("mary")
    before = scene.world.now
    mary.done(mary.post(CONFIG, memory="20480"))

    only = scene.only()

    assert (only.layer, only.subject) == (Layer.VMS, TRINITY)
    assert only.values == (DriftValue(key="memory", observed="20480", desired="16384"),)
    assert only.author.name == "mary@pve"
    assert only.author.when is not None
    assert only.author.when.timestamp() >= int(before)
    assert only.author.how == "task qmconfig on trinity"
    assert only.severity is DriftSeverity.WARNING
    steps = [step.id for step in only.correction.steps]
    assert steps == [f"vms/configure/{TRINITY}"]
    assert only.correction.command.startswith("stockman apply --only vms")
    assert only.correction.command.endswith(f" --node {TRINITY}")


def test_memory_that_only_waits_to_change_is_put_right_without_emptying_the_node(
    scene: Scene,
) -> None:
    mary = scene.person("mary")
    mary.done(mary.post(CONFIG, memory="20480"))
    named = [step.id for step in scene.only().correction.steps]

    done = scene.apply()

    assert named == [*done] == [f"vms/configure/{TRINITY}"]
    assert scene.find().drifts == ()


def test_memory_is_put_right_by_the_plan_that_drift_names(scene: Scene) -> None:
    mary = scene.person("mary")
    mary.done(mary.post(CONFIG, memory="20480"))
    mary.done(mary.post(CONFIG.replace("config", "status/reboot")))
    scene.world.advance(600)
    named = {step.id for step in scene.only(Layer.VMS).correction.steps}

    done = scene.apply()

    assert {f"vms/configure/{TRINITY}", f"vms/restart/{TRINITY}"} <= named <= set(done)
    assert scene.find(Layer.VMS).drifts == ()


def test_a_machine_whose_disk_was_never_copied_is_made_to_the_end_by_the_plan(
    scene: Scene,
) -> None:
    scene.root_door.done(scene.root_door.post(f"/nodes/trinity/qemu/{FIRST}/status/stop"))
    for cluster in scene.world.clusters.values():
        cluster.state.guests[FIRST].config.values.pop("scsi0")

    (drift,) = (one for one in scene.find().drifts if one.layer is Layer.VMS)

    assert drift.description == f"VM {FIRST} ({TRINITY}) has no disk"
    assert f"vms/create/{TRINITY}" in {step.id for step in drift.correction.steps}


def test_a_machine_whose_host_died_while_making_it_is_left_to_root(scene: Scene) -> None:
    guest = next(iter(scene.world.clusters.values())).state.guests[FIRST]
    guest.status = "stopped"
    guest.config.values = {"lock": "create"}

    locked = next(drift for drift in scene.find(Layer.VMS).drifts if drift.subject == TRINITY)
    guest.config.values = {}
    unlocked = next(drift for drift in scene.find(Layer.VMS).drifts if drift.subject == TRINITY)

    assert locked.description == unlocked.description == f"VM {FIRST} ({TRINITY}) is not made yet"
    assert f"run `qm unlock {FIRST}` as root on trinity" in locked.correction.command
    assert f"vms/create/{TRINITY}" in {step.id for step in unlocked.correction.steps}


@pytest.mark.parametrize("marked", [True, False], ids=["ours", "of others before"])
def test_a_change_that_waits_for_a_restart_is_told(scene: Scene, *, marked: bool) -> None:
    config = next(iter(scene.world.clusters.values())).state.guests[FIRST].config
    config.pending["cores"], config.values["cores"] = config.values["cores"], "2"
    if not marked:
        config.values["description"] = "mine"

    drift = next(one for one in scene.find(Layer.VMS).drifts if "waits" in one.description)

    assert drift.description == f"VM {FIRST} ({TRINITY}) waits for a restart"
    assert drift.values == (DriftValue(key="cores", observed="2", desired="8"),)
    assert drift.severity is DriftSeverity.WARNING
    assert (f"vms/restart/{TRINITY}" in {step.id for step in drift.correction.steps}) is marked
    assert ("qm reboot" in drift.correction.command) is not marked


def test_a_change_that_left_no_task_has_no_author(scene: Scene) -> None:
    scene.person("mary").put(CONFIG, description="mine")

    only = scene.only()

    assert not only.author.is_known
    assert only.author.how.startswith("no task tells")
    assert only.severity is DriftSeverity.NOTICE


def test_an_old_task_of_somebody_is_not_blamed_for_what_came_after_our_own(scene: Scene) -> None:
    mary = scene.person("mary")
    mary.done(mary.post(CONFIG, memory="20480"))
    scene.apply()
    scene.world.advance(5.0)
    mary.put(CONFIG, description="mine")

    only = scene.only()

    assert [value.key for value in only.values] == ["description"]
    assert not only.author.is_known


def test_a_card_that_somebody_added_should_not_be(scene: Scene) -> None:
    mary = scene.person("mary")
    mary.done(mary.post(CONFIG, net1="virtio=BC:24:11:00:00:99,bridge=vmbr0"))

    only = scene.only()

    assert [(value.key, value.desired) for value in only.values] == [("net1", None)]
    assert only.author.name == "mary@pve"


def test_a_vm_that_somebody_deleted_is_missing_and_no_layer_is_unknown(scene: Scene) -> None:
    mary = scene.person("mary")
    mary.delete(f"/cluster/ha/resources/vm:{FIRST + 1}")
    mary.done(mary.post(f"/nodes/neo/qemu/{FIRST + 1}/status/stop"))
    mary.done(mary.delete(f"/nodes/neo/qemu/{FIRST + 1}"))

    report = scene.find(Layer.VMS, Layer.TALOS)

    assert report.unknown == ()
    (drift,) = report.drifts
    assert (drift.subject, drift.description) == (NEO, f"VM {FIRST + 1} ({NEO}) is not there")
    assert drift.severity is DriftSeverity.CRITICAL
    assert (drift.author.name, drift.author.how) == ("mary@pve", "task qmdestroy on neo")
    assert f"vms/create/{NEO}" in [step.id for step in drift.correction.steps]


def test_vms_that_the_token_may_not_see_are_unknown_and_not_gone(scene: Scene) -> None:
    scene.root_door.put("/access/roles/StockmanGuests", privs="VM.PowerMgmt")

    report = scene.find(administrator=False)

    assert {drift.layer for drift in report.drifts} == {Layer.ACCESS}
    whats = {one.layer: one.problem.what for one in report.unknown}
    lacks = "the token of stockman lacks VM.Audit on /vms"
    assert whats == {Layer.VMS: lacks, Layer.PLACEMENT: lacks}


def test_machines_that_karpenter_makes_are_its_own(scene: Scene) -> None:
    root = scene.root_door
    root.done(
        root.post(
            "/nodes/trinity/qemu",
            vmid=9001,
            name="karpenter-default-x7k2p",
            tags="karpenter",
            memory=2048,
        )
    )

    assert scene.find().drifts == ()


def test_volumes_that_csi_attaches_are_its_own(scene: Scene) -> None:
    values = scene.world.clusters[scene.cluster].state.guests[FIRST].config.values
    storage = values["scsi0"].partition(":")[0]

    scene.root_door.put(CONFIG, scsi7=f"{storage}:1,serial=pvc-0a1b,backup=0")

    assert "scsi7" in values

    assert scene.find().drifts == ()


def test_a_clone_of_a_machine_is_drift_that_no_plan_corrects(scene: Scene) -> None:
    root = scene.root_door
    root.done(root.post("/nodes/trinity/qemu/1030/clone", newid=1099, name="trial"))

    only = scene.only(Layer.VMS)

    assert only.description == f"VM 1099 (trial) on trinity is a copy of {TRINITY} (VM 1030)"
    assert (only.subject, only.correction.steps) == ("1099", ())
    assert scene.apply() == []


def test_a_machine_that_somebody_renamed_gets_its_name_back_by_a_command(scene: Scene) -> None:
    scene.person("mary").put(CONFIG, name="strange")

    only = scene.only(Layer.VMS)

    assert only.values == (DriftValue(key="name", observed="strange", desired=TRINITY),)
    assert only.severity is DriftSeverity.CRITICAL
    assert only.correction.command == f"on trinity: qm set {FIRST} --name {TRINITY}"
