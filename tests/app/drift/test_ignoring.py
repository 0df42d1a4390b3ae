"""Rules that let differences stay: by layer, subject and key, until their last day."""

from __future__ import annotations

from datetime import date

from stockman.assessment.drift.report import (
    Drift,
    DriftValue,
    Layer,
    apply_ignore_rules,
    find_expired,
)
from stockman.model.policies import DriftRule
from tests.app.drift.scene import FIRST, Scene

TODAY = date(2026, 8, 1)
MEMORY = DriftValue(key="memory", observed="2", desired="1")
CORES = DriftValue(key="cores", observed="2", desired="1")
BOTH = Drift(layer=Layer.VMS, subject="work-1", description="it differs", values=(MEMORY, CORES))


def rule(
    subject: str = "*", key: str = "*", until: str = "2026-08-01", layer: str = "vms"
) -> DriftRule:
    return DriftRule(
        layer=layer,  # type: ignore[arg-type]  # as the files give it
        subject=subject,
        field=key,
        until=until,
        reason="an import",
    )


def test_a_rule_ignores_what_it_names_on_its_last_day_too() -> None:
    kept, ignored = apply_ignore_rules([BOTH], [rule("work-*")], TODAY)

    assert kept == ()
    assert [(one.drift, one.reason, one.until) for one in ignored] == [
        (BOTH, "an import", "2026-08-01")
    ]


def test_a_rule_for_one_key_leaves_the_others() -> None:
    (kept,), (ignored,) = apply_ignore_rules([BOTH], [rule("work-1", "mem*")], TODAY)

    assert kept.values == (CORES,)
    assert ignored.drift.values == (MEMORY,)


def test_two_rules_can_ignore_all_of_it() -> None:
    kept, ignored = apply_ignore_rules([BOTH], [rule(key="memory"), rule(key="cores")], TODAY)

    assert kept == ()
    assert len(ignored) == 2


def test_a_rule_for_a_key_does_not_ignore_what_has_no_values() -> None:
    gone = Drift(layer=Layer.VMS, subject="work-1", description="it is gone")

    assert apply_ignore_rules([gone], [rule(key="memory")], TODAY) == ((gone,), ())


def test_other_layers_and_subjects_are_not_meant() -> None:
    rules = [rule(layer="talos"), rule("work-2"), rule("WORK-1")]

    assert apply_ignore_rules([BOTH], rules, TODAY) == ((BOTH,), ())


def test_an_expired_rule_ignores_nothing_and_is_told() -> None:
    over = rule(until="2026-07-31")

    assert apply_ignore_rules([BOTH], [over], TODAY) == ((BOTH,), ())
    assert find_expired([over, rule()], TODAY) == (over,)


def test_rules_of_the_files_hold_until_their_last_day(scene: Scene) -> None:
    with (scene.directory / "cluster.yaml").open("a") as file:
        file.write(
            "drift:\n  ignore:\n    - {layer: vms, subject: talos-trinity, field: memory,"
            " until: 2026-08-01, reason: an import}\n"
        )
    scene.commit("A rule")
    scene.follow()
    root = scene.root_door
    root.done(root.post(f"/nodes/trinity/qemu/{FIRST}/config", memory="20480"))

    during = scene.find()
    scene.world.advance(13 * 3600.0)
    after = scene.find(Layer.VMS)

    assert (during.drifts, during.expired) == ((), ())
    assert [one.reason for one in during.ignored] == ["an import"]
    assert [drift.subject for drift in after.drifts] == ["talos-trinity"]
    assert [one.until for one in after.expired] == ["2026-08-01"]
