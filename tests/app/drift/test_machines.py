"""Talos machines whose configuration somebody changed, and what tuppr may change."""

from __future__ import annotations

import base64
import re

from stockman_lab.core.faults import Effect, Fault, Point
from stockman_lab.doors.talos_port import memory_talos

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
    wish = ApplyConfigurationRequest(text=Secret(changed, resolved=True), mode=ApplyMode.NO_REBOOT)
    told(talos.apply_configuration(address, wish))


def test_a_value_that_somebody_changed_on_a_machine_is_told_with_both_values(
    scene: Scene,
) -> None:
    talosctl_edit(scene, NEO, *TEAM)

    found = scene.only()

    assert (found.layer, found.subject) == (Layer.TALOS, NEO)
    assert found.values == (
        DriftValue(key="machine.nodeLabels.team", observed="blue", desired=None),
    )
    assert not found.author.is_known
    assert found.author.how == "Talos does not tell who applied a configuration"
    assert [one.id for one in found.correction.steps] == [f"talos/change/{NEO}"]


def test_the_plan_puts_the_configuration_back(scene: Scene) -> None:
    talosctl_edit(scene, NEO, *TEAM)

    scene.apply()

    assert scene.find().drifts == ()


def test_a_secret_that_somebody_changed_is_never_shown(scene: Scene) -> None:
    canary = base64.b64encode(b"canary" * 5 + b"xy").decode()
    place = "secretboxEncryptionSecret"
    talosctl_edit(scene, NEO, rf"^    {place}: \S+$", f"    {place}: {canary}")

    found = scene.only(Layer.TALOS)

    assert found.values == (DriftValue(key=f"cluster.{place}", observed=MASK, desired=MASK),)
    assert canary not in repr(found)


def test_the_image_of_the_installer_is_changed_by_upgrades(scene: Scene) -> None:
    talosctl_edit(scene, NEO, *INSTALLER)

    assert scene.find().drifts == ()


def test_another_version_of_kubernetes_needs_an_upgrade_and_stops_the_plan(scene: Scene) -> None:
    talosctl_edit(scene, NEO, *KUBELET)

    found = {one.description: one for one in scene.find(Layer.TALOS).drifts}

    version = found.pop(f"{NEO} needs an upgrade, which is not done here")
    (image,) = found.values()
    assert [one.key for one in image.values] == ["machine.kubelet.image"]
    assert version.subject == image.subject == NEO
    assert "upgrade" in version.correction.command


def test_versions_belong_to_tuppr_where_it_upgrades(scene: Scene) -> None:
    with (scene.directory / "cluster.yaml").open("a") as file:
        file.write("upgrade: {engine: tuppr}\n")
    talosctl_edit(scene, NEO, *KUBELET)
    talosctl_edit(scene, NEO, *INSTALLER)

    found = scene.find(Layer.TALOS).drifts
    keys = {value.key for one in found for value in one.values}
    assert not [key for key in keys if key.endswith("image")]
    assert not [one for one in found if "upgrade" in one.description]


def test_another_version_than_the_files_have_is_drift_unless_tuppr_upgrades(scene: Scene) -> None:
    scene.edit("cluster.yaml", r"^talos_version: \S+$", "talos_version: 1.11.5")

    versions = [one for one in scene.find(Layer.TALOS).drifts if "upgrade" in one.description]

    assert len(versions) == 3
    assert versions[0].why == "its Talos is v1.11.0, and v1.11.5 is wanted"
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
    talos, other = memory_talos(scene.world), scene.address(TRINITY)
    member = next(one for one in told(talos.etcd_members(other)) if one.hostname == NEO)
    told(talos.remove_etcd_member(other, member.id))
    scene.world.advance(60.0)

    found = scene.only(Layer.TALOS)
    done = scene.apply()

    assert (found.subject, found.description) == (NEO, f"{NEO} is not an etcd member")
    assert found.severity is DriftSeverity.CRITICAL
    steps = [one.id for one in found.correction.steps]
    assert f"talos/rejoin/{NEO}" in steps
    assert done.index(f"nodes/drain/{NEO}") < done.index(f"talos/rejoin/{NEO}")
    assert scene.find(Layer.TALOS, Layer.VMS).drifts == ()
