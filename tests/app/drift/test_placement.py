"""Where machines are: migrated by hand is drift, moved by high availability is not."""

from __future__ import annotations

from stockman.assessment.drift.report import DriftValue, Layer
from tests.app.drift.scene import FIRST, TRINITY, Scene


def migrated(scene: Scene) -> None:
    mary = scene.person("mary")
    mary.done(mary.post(f"/nodes/trinity/qemu/{FIRST}/migrate", target="neo", online=1))


def test_a_machine_that_somebody_migrated_is_on_another_host(unwatched: Scene) -> None:
    scene = unwatched
    migrated(scene)

    only = scene.only()

    assert (only.layer, only.subject) == (Layer.PLACEMENT, TRINITY)
    assert only.values == (DriftValue(key="host", observed="neo", desired="trinity"),)
    assert (only.author.name, only.author.how) == ("mary@pve", "task qmigrate on trinity")
    assert [step.id for step in only.correction.steps] == [f"vms/move/{TRINITY}"]


def test_it_comes_back_by_the_plan(unwatched: Scene) -> None:
    scene = unwatched
    migrated(scene)

    scene.apply()

    assert scene.find().drifts == ()


def test_a_machine_that_high_availability_looks_after_may_be_anywhere(scene: Scene) -> None:
    migrated(scene)
    scene.world.advance(120.0)

    assert scene.world.clusters[scene.cluster].state.guests[FIRST].node == "neo"
    assert scene.find().drifts == ()


def test_a_machine_that_is_not_looked_after_any_more_is_told(scene: Scene) -> None:
    scene.person("mary").delete(f"/cluster/ha/resources/vm:{FIRST}")

    rule, found = scene.find(Layer.PLACEMENT).drifts

    assert rule.why == f"it does not include vm:{FIRST}"
    assert found.subject == TRINITY
    assert found.why == "it is not managed by HA"
    assert f"vms/ha/{TRINITY}" in [step.id for step in found.correction.steps]
    scene.apply()
    assert scene.find(Layer.PLACEMENT).drifts == ()
