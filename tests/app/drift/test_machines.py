"""Talos machines whose configuration somebody changed, and what tuppr may change."""

from __future__ import annotations

import base64
import re

from stockman_lab.core.faults import Effect, Fault, Point
from stockman_lab.servers.talos_port import memory_talos

from stockman.assessment.drift.report import DriftSeverity, DriftValue, Layer
from stockman.model.secret import MASK, Secret
from stockman.talos.records.operations import ApplyConfigurationRequest, ApplyMode
from tests.app.drift.scene import NEO, TRINITY, Scene, told

TEAM = (r"^    nodeLabels:$", "    nodeLabels:\n        team: blue")
KUBELET = (r"^(\s+image: \S*kubelet):v\S+$", r"\1:v1.34.0")
INSTALLER = (r"^(\s+image: \S*installer\S*):v\S+$", r"\1:v1.11.5")


def talosctl_edit(scene: Scene, node: str, old: str, new: str) -> None:
    """Somebody edits the configuration of a machine."""
    talos, address = memory_talos(scene.world), scene.address(node)
    text = told(talos.machine_configuration(address)).reveal()
    changed, count = re.subn(old, new, text, count=1, flags=re.MULTILINE)
    assert count
    apply_configuration_request = ApplyConfigurationRequest(
        text=Secret(changed, resolved=True), mode=ApplyMode.NO_REBOOT
    )
    told(talos.apply_configuration(address, apply_configuration_request))


def test_a_value_that_somebody_changed_on_a_machine_is_told_with_both_values(
    scene: Scene,
) -> None:
    talosctl_edit(scene, NEO, *TEAM)

    only = scene.only()

    assert (only.layer, only.subject) == (Layer.TALOS, NEO)
    assert only.values == (
        DriftValue(key="machine.nodeLabels.team", observed="blue", desired=None),
    )
    assert not only.author.is_known
    assert only.author.how == "Talos does not tell who applied a configuration"
    assert [step.id for step in only.correction.steps] == [f"talos/change/{NEO}"]


def test_the_plan_puts_the_configuration_back(scene: Scene) -> None:
    talosctl_edit(scene, NEO, *TEAM)

    scene.apply()

    assert scene.find().drifts == ()


def test_a_secret_that_somebody_changed_is_never_shown(scene: Scene) -> None:
    canary = base64.b64encode(b"canary" * 5 + b"xy").decode()
    text = "secretboxEncryptionSecret"
    talosctl_edit(scene, NEO, rf"^    {text}: \S+$", f"    {text}: {canary}")

    only = scene.only(Layer.TALOS)

    assert only.values == (DriftValue(key=f"cluster.{text}", observed=MASK, desired=MASK),)
    assert canary not in repr(only)


def test_the_image_of_the_installer_is_changed_by_upgrades(scene: Scene) -> None:
    talosctl_edit(scene, NEO, *INSTALLER)

    assert scene.find().drifts == ()


def test_another_version_of_kubernetes_needs_an_upgrade_and_stops_the_plan(scene: Scene) -> None:
    talosctl_edit(scene, NEO, *KUBELET)

    drifts = {drift.description: drift for drift in scene.find(Layer.TALOS).drifts}

    version = drifts.pop(f"{NEO} needs an upgrade, which `stockman apply` does not do")
    (image,) = drifts.values()
    assert [value.key for value in image.values] == ["machine.kubelet.image"]
    assert version.subject == image.subject == NEO
    assert "upgrade" in version.correction.command


def test_versions_belong_to_tuppr_where_it_upgrades(scene: Scene) -> None:
    with (scene.directory / "cluster.yaml").open("a") as file:
        file.write("upgrade: {engine: tuppr}\n")
    talosctl_edit(scene, NEO, *KUBELET)
    talosctl_edit(scene, NEO, *INSTALLER)

    drifts = scene.find(Layer.TALOS).drifts
    keys = {value.key for drift in drifts for value in drift.values}
    assert not [key for key in keys if key.endswith("image")]
    assert not [drift for drift in drifts if "upgrade" in drift.description]


def test_another_version_than_the_files_have_is_drift_unless_tuppr_upgrades(scene: Scene) -> None:
    scene.edit("cluster.yaml", r"^talos_version: \S+$", "talos_version: 1.11.5")

    versions = [drift for drift in scene.find(Layer.TALOS).drifts if "upgrade" in drift.description]

    assert len(versions) == 3
    assert versions[0].why == "its Talos is v1.11.0, expected v1.11.5"
    assert "upgrade" in versions[0].correction.command


def test_a_machine_that_does_not_answer_is_unknown_and_not_unchanged(scene: Scene) -> None:
    gone = Fault(Point.TALOS_CALL, Effect.CUT, {"address": str(scene.address(NEO))}, times=None)
    scene.world.faults.add(gone)

    report = scene.find(Layer.TALOS)

    assert [one.subject for one in report.unknown] == [NEO]
    assert report.unknown[0].problem.code == "node.unknown"
    assert report.states == {"talos": "unknown"}
    assert report.drifts == ()


def test_a_controller_that_somebody_took_out_of_etcd_is_told_and_brought_back(
    scene: Scene,
) -> None:
    talos, address = memory_talos(scene.world), scene.address(TRINITY)
    member = next(rows for rows in told(talos.etcd_members(address)) if rows.hostname == NEO)
    told(talos.remove_etcd_member(address, member.id))
    scene.world.advance(60.0)

    only = scene.only(Layer.TALOS)
    done = scene.apply()

    assert (only.subject, only.description) == (NEO, f"{NEO} is not an etcd member")
    assert only.severity is DriftSeverity.CRITICAL
    steps = [step.id for step in only.correction.steps]
    assert f"talos/rejoin/{NEO}" in steps
    assert done.index(f"nodes/drain/{NEO}") < done.index(f"talos/rejoin/{NEO}")
    assert scene.find(Layer.TALOS, Layer.VMS).drifts == ()
