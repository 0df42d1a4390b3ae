"""Machines and their etcd: what is told of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest
from stockman_lab.core.faults import Effect, Point

from stockman.assessment.status.findings import Health, StatusCheck
from stockman.assessment.status.observed import StatusInput
from stockman.assessment.status.status import assess
from stockman.model.names import Mac
from stockman.model.problem import Severity
from stockman.model.version import Version
from stockman.planning.observed.talos import ObservedMachine
from stockman.steps.etcd.view import EtcdReport, ObservedEtcd
from stockman.steps.talos.machine import MachineState
from stockman.talos.records.machines import EtcdAlarm, MachineStatus, UnmetCondition
from tests.app.status.scene import NEO, NIOBE, TRINITY, Scene, codes, severity

NODES = (StatusCheck.TALOS, StatusCheck.ETCD, StatusCheck.KUBERNETES)


def with_machine(seen: StatusInput, name: str, **changes: Any) -> StatusInput:
    """The same look, with one machine otherwise."""
    talos = seen.talos
    assert talos is not None
    fresh: ObservedMachine = replace(talos.machines[name], **changes)
    talos = replace(talos, machines={**talos.machines, name: fresh})
    return replace(seen, observed=replace(seen.observed, talos=talos))


def with_answer(seen: StatusInput, name: str, **changes: Any) -> StatusInput:
    """The same look, with the etcd of one controller otherwise."""
    talos = seen.talos
    assert talos is not None
    answers = tuple(
        replace(answer, **changes) if answer.node == name else answer
        for answer in talos.etcd.answers
    )
    talos = replace(talos, etcd=ObservedEtcd(answers=answers))
    return replace(seen, observed=replace(seen.observed, talos=talos))


def test_a_machine_that_cannot_be_reached_is_told_and_its_node_follows(simulation: Scene) -> None:
    simulation.fault(Point.NETWORK, Effect.FAIL, machine=NIOBE)
    simulation.world.advance(300.0)

    status = simulation.status()

    own = codes(
        section
        for section in status.parts
        if section.check not in (StatusCheck.CERTIFICATES, StatusCheck.FLUX)
    )
    assert own == {"status.machine-silent": [NIOBE]}


@pytest.mark.parametrize(
    ("standing", "code"),
    [
        (MachineState.MAINTENANCE, "status.machine-maintenance"),
        (MachineState.FOREIGN, "status.machine-foreign"),
        (MachineState.BOOTING, "status.machine-booting"),
        (MachineState.SILENT, "status.machine-silent"),
    ],
)
def test_a_machine_is_told_by_how_it_stands_to_us(
    simulation: Scene, standing: MachineState, code: str
) -> None:
    status = assess(with_machine(simulation.look(), NEO, standing=standing), [StatusCheck.TALOS])

    assert codes(status.parts) == {code: [NEO]}
    assert not status.healthy


def test_a_machine_with_another_uuid_than_its_vm_is_another_machine(simulation: Scene) -> None:
    status = assess(with_machine(simulation.look(), NEO, uuid=UUID(int=7)), NODES)

    assert codes(status.parts) == {"status.machine-identity": [NEO]}


def test_a_machine_without_the_card_of_its_node_is_told_and_its_cards_are_shown(
    simulation: Scene,
) -> None:
    mac = Mac("bc:24:11:00:00:02")

    status = assess(with_machine(simulation.look(), NEO, macs=(mac,)), (StatusCheck.VMS, *NODES))

    assert codes(status.parts) == {"status.machine-card": [NEO]}
    node = next(one for one in status.nodes if one.name == NEO)
    assert node.vm is not None
    assert node.machine.macs == (mac,)
    assert node.vm.macs != (mac,)


def test_a_machine_that_does_not_tell_its_uuid_is_unknown(simulation: Scene) -> None:
    status = assess(with_machine(simulation.look(), NEO, uuid=None), [StatusCheck.TALOS])

    assert codes(status.parts) == {"status.unknown": [f"the identity of {NEO}"]}
    assert status.parts[0].health is Health.UNKNOWN
    assert not status.healthy


def test_a_clock_that_is_wrong_is_told(simulation: Scene) -> None:
    simulation.fault(Point.CLOCK, Effect.LIE, 42.0, machine=NEO)

    assert simulation.codes(StatusCheck.TALOS) == {"status.clock": [NEO]}


def test_a_clock_that_nobody_tells_is_unknown_and_no_failure(simulation: Scene) -> None:
    status = assess(with_machine(simulation.look(), NEO, skew=None), [StatusCheck.TALOS])

    assert status.parts[0].health is Health.UNKNOWN
    assert status.healthy


def test_what_a_machine_lacks_is_told_in_its_words(simulation: Scene) -> None:
    lacks = UnmetCondition(name="services", reason="etcd is not healthy")
    status = MachineStatus(stage="booting", ready=False, unmet=(lacks,))

    found = assess(with_machine(simulation.look(), NEO, status=status), [StatusCheck.TALOS])

    assert codes(found.parts) == {"status.machine-not-ready": [NEO]}
    assert found.findings[0].problem.why == "it is booting: services: etcd is not healthy"


def test_another_version_than_configured_is_a_warning(simulation: Scene) -> None:
    cluster = simulation.desired.cluster
    assert cluster is not None
    newer = replace(cluster.talos, version=Version.parse("1.11.5"))
    kubernetes = replace(cluster.kubernetes, version=Version.parse("1.34.9"))
    simulation.desired = replace(
        simulation.desired, cluster=replace(cluster, talos=newer, kubernetes=kubernetes)
    )

    status = simulation.status([StatusCheck.TALOS, StatusCheck.KUBERNETES])

    assert codes(status.parts) == {"status.version": [TRINITY, NEO, NIOBE] * 2}
    assert severity(status, "status.version") is Severity.WARNING
    assert status.healthy


def test_a_member_that_is_ill_is_told(simulation: Scene) -> None:
    simulation.fault(Point.ETCD, Effect.FAIL, machine=NEO, action="run")
    simulation.world.advance(120.0)

    found = simulation.codes(StatusCheck.ETCD)

    assert found == {"status.etcd-unhealthy": [NEO]}


def test_a_controller_that_is_no_member_is_told(simulation: Scene) -> None:
    seen = simulation.look()
    assert seen.talos is not None
    members = tuple(member for member in seen.talos.etcd.members if member.hostname != NIOBE)
    for name in (TRINITY, NEO):
        seen = with_answer(seen, name, members=members)
    seen = with_answer(seen, NIOBE, members=(), status=None, state="Preparing")

    status = assess(seen, [StatusCheck.ETCD])

    assert codes(status.parts) == {"status.etcd-missing": [NIOBE]}
    assert f"stockman apply --node {NIOBE}" in status.findings[0].problem.fix


def test_a_member_that_only_learns_is_told_with_how_far_it_is(simulation: Scene) -> None:
    seen = simulation.look()
    assert seen.talos is not None
    members = tuple(
        replace(member, is_learner=member.hostname == NIOBE) for member in seen.talos.etcd.members
    )
    for name in (TRINITY, NEO, NIOBE):
        seen = with_answer(seen, name, members=members)

    status = assess(seen, [StatusCheck.ETCD])

    assert codes(status.parts) == {"status.etcd-learner": [NIOBE]}
    assert "entries behind the leader" in status.findings[0].problem.why


def test_a_member_that_no_controller_is_is_told(simulation: Scene) -> None:
    simulation.desired = replace(
        simulation.desired,
        nodes=tuple(node for node in simulation.desired.nodes if node.name != NIOBE),
    )

    found = simulation.codes(StatusCheck.ETCD)

    assert found == {"status.etcd-stranger": [NIOBE]}


def test_alarms_are_told_by_the_machine_that_raised_them(simulation: Scene) -> None:
    seen = simulation.look()
    assert seen.talos is not None
    member = seen.talos.etcd.member_of(NEO)
    assert member is not None
    alarm = EtcdAlarm(member=member.id, alarm="NOSPACE")

    status = assess(replace(seen, alarms=(alarm,)), [StatusCheck.ETCD])

    assert codes(status.parts) == {"status.etcd-alarm": [NEO]}


def test_alarms_that_nobody_tells_are_unknown(simulation: Scene) -> None:
    status = assess(replace(simulation.look(), alarms=None), [StatusCheck.ETCD])

    assert codes(status.parts) == {"status.unknown": ["alarms of etcd"]}
    assert status.healthy


def test_a_database_that_is_nearly_full_is_told(simulation: Scene) -> None:
    seen = simulation.look()
    assert seen.talos is not None
    status = next(answer.status for answer in seen.talos.etcd.answers if answer.node == NEO)
    assert status is not None
    seen = with_answer(seen, NEO, status=replace(status, db_size=1900 << 20))

    assert codes(assess(seen, [StatusCheck.ETCD]).parts) == {"status.etcd-large": [NEO]}


def test_etcd_of_which_nobody_tells_is_unknown_and_not_empty(simulation: Scene) -> None:
    seen = simulation.look()
    assert seen.talos is not None
    silent = tuple(
        EtcdReport(node=answer.node, why="no answer") for answer in seen.talos.etcd.answers
    )
    talos = replace(seen.talos, etcd=ObservedEtcd(answers=silent))

    status = assess(replace(seen, observed=replace(seen.observed, talos=talos)), [StatusCheck.ETCD])

    assert codes(status.parts) == {"status.etcd-silent": ["etcd"]}
    assert (status.parts[0].health, status.healthy) == (Health.UNKNOWN, False)


def test_machines_that_nobody_asked_are_unknown(simulation: Scene) -> None:
    seen = simulation.look()
    nobody = replace(seen, observed=replace(seen.observed, talos=None))

    status = assess(nobody, [StatusCheck.TALOS, StatusCheck.ETCD])

    assert [section.health for section in status.parts] == [Health.UNKNOWN, Health.UNKNOWN]
    assert not status.healthy
