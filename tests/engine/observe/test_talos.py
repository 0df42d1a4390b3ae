"""One look at all machines: what is known, what is not, and what it costs."""

from __future__ import annotations

import pytest
from stockman_lab.core.faults import Effect, Fault, Point

from stockman.steps.talos.machine import MachineState
from tests.steps.talos_scene import MINORS, NEO, NIOBE, TRINITY, scene


@pytest.mark.parametrize("version", MINORS)
def test_machines_that_run_are_known_with_identity_version_and_clock(version: str) -> None:
    found = scene("single", version, up=True)

    (seen,) = found.observe().machines.values()

    assert seen.standing is MachineState.CONFIGURED
    assert seen.version == f"v{version}"
    assert seen.uuid == found.target(seen.node).uuid
    assert seen.macs == found.target(seen.node).macs
    assert seen.hostname == seen.node
    assert seen.skew == 0.0
    assert seen.unknown == {}
    assert seen.seen_at == found.ports.clock.now()
    assert seen.source == f"Talos API of {seen.address}"


def test_calls_grow_with_the_nodes_and_not_with_anything_else() -> None:
    call_count = scene("single", up=True).observe().call_count
    three = scene("three-node", up=True).observe().call_count

    assert three <= 3 * call_count


def test_nothing_that_was_seen_shows_a_secret() -> None:
    found = scene("single", up=True)

    shown = repr(found.observe())

    assert found.bundle.secrets.bootstraptoken.reveal() not in shown
    assert found.bundle.cluster.secret.reveal() not in shown


def test_whoever_does_not_answer_is_unknown_and_the_others_are_told() -> None:
    found = scene("three-node", up=True)
    found.power_off(NEO)

    seen = found.observe()

    assert seen.machines[NEO].standing is MachineState.SILENT
    assert seen.machines[NEO].uuid is None
    assert seen.machines[TRINITY].is_configured
    assert [one.node for one in seen.etcd.unknown] == [NEO]
    assert {member.hostname for member in seen.etcd.members} == {TRINITY, NEO, NIOBE}


def test_a_fact_that_is_not_told_is_unknown_with_its_reason() -> None:
    found = scene("single", up=True)
    found.world.faults.add(
        Fault(Point.TALOS_CALL, Effect.FAIL, {"service": "time.TimeService"}, times=None)
    )

    (seen,) = found.observe().machines.values()

    assert seen.skew is None
    assert "clock" in seen.unknown
    assert seen.is_configured
