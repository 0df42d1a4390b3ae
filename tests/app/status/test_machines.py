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
from stockman.talos.records.etcd import EtcdAlarm
from stockman.talos.records.machines import MachineStatus, UnmetCondition
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
        replace(one, **changes) if one.node == name else one for one in talos.etcd.answers
    )
    talos = replace(talos, etcd=ObservedEtcd(answers=answers))
    return replace(seen, observed=replace(seen.observed, talos=talos))


def test_a_machine_that_cannot_be_reached_is_told_and_its_node_follows(here: Scene) -> None:
    here.fault(Point.NETWORK, Effect.FAIL, machine=NIOBE)
    here.world.advance(300.0)

    found = here.status()

    own = codes(
        one for one in found.parts if one.check not in (StatusCheck.CERTIFICATES, StatusCheck.FLUX)
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
    here: Scene, standing: MachineState, code: str
) -> None:
    found = assess(with_machine(here.look(), NEO, standing=standing), [StatusCheck.TALOS])

    assert codes(found.parts) == {code: [NEO]}
    assert not found.healthy


def test_a_machine_with_another_uuid_than_its_vm_is_another_machine(here: Scene) -> None:
    found = assess(with_machine(here.look(), NEO, uuid=UUID(int=7)), NODES)

    assert codes(found.parts) == {"status.machine-identity": [NEO]}


def test_a_machine_without_the_card_of_its_node_is_told_and_its_cards_are_shown(
    here: Scene,
) -> None:
    other = Mac("bc:24:11:00:00:02")

    found = assess(with_machine(here.look(), NEO, macs=(other,)), (StatusCheck.VMS, *NODES))

    assert codes(found.parts) == {"status.machine-card": [NEO]}
    node = next(one for one in found.nodes if one.name == NEO)
    assert node.vm is not None
    assert node.machine.macs == (other,)
    assert node.vm.macs != (other,)


def test_a_machine_that_does_not_tell_its_uuid_is_unknown(here: Scene) -> None:
    found = assess(with_machine(here.look(), NEO, uuid=None), [StatusCheck.TALOS])

    assert codes(found.parts) == {"status.unknown": [f"the identity of {NEO}"]}
    assert found.parts[0].health is Health.UNKNOWN
    assert not found.healthy


def test_a_clock_that_is_wrong_is_told(here: Scene) -> None:
    here.fault(Point.CLOCK, Effect.LIE, 42.0, machine=NEO)

    assert here.codes(StatusCheck.TALOS) == {"status.clock": [NEO]}


def test_a_clock_that_nobody_tells_is_unknown_and_no_failure(here: Scene) -> None:
    found = assess(with_machine(here.look(), NEO, skew=None), [StatusCheck.TALOS])

    assert found.parts[0].health is Health.UNKNOWN
    assert found.healthy


def test_what_a_machine_lacks_is_told_in_its_words(here: Scene) -> None:
    lacks = UnmetCondition(name="services", reason="etcd is not healthy")
    status = MachineStatus(stage="booting", ready=False, unmet=(lacks,))

    found = assess(with_machine(here.look(), NEO, status=status), [StatusCheck.TALOS])

    assert codes(found.parts) == {"status.machine-not-ready": [NEO]}
    assert found.findings[0].problem.why == "it is booting: services: etcd is not healthy"


def test_another_version_than_configured_is_a_warning(here: Scene) -> None:
    cluster = here.desired.cluster
    assert cluster is not None
    newer = replace(cluster.talos, version=Version.parse("1.11.5"))
    kubernetes = replace(cluster.kubernetes, version=Version.parse("1.34.9"))
    here.desired = replace(
        here.desired, cluster=replace(cluster, talos=newer, kubernetes=kubernetes)
    )

    found = here.status([StatusCheck.TALOS, StatusCheck.KUBERNETES])

    assert codes(found.parts) == {"status.version": [TRINITY, NEO, NIOBE] * 2}
    assert severity(found, "status.version") is Severity.WARNING
    assert found.healthy


def test_a_member_that_is_ill_is_told(here: Scene) -> None:
    here.fault(Point.ETCD, Effect.FAIL, machine=NEO, action="run")
    here.world.advance(120.0)

    found = here.codes(StatusCheck.ETCD)

    assert found == {"status.etcd-unhealthy": [NEO]}


def test_a_controller_that_is_no_member_is_told(here: Scene) -> None:
    seen = here.look()
    assert seen.talos is not None
    members = tuple(one for one in seen.talos.etcd.members if one.hostname != NIOBE)
    for name in (TRINITY, NEO):
        seen = with_answer(seen, name, members=members)
    seen = with_answer(seen, NIOBE, members=(), status=None, state="Preparing")

    found = assess(seen, [StatusCheck.ETCD])

    assert codes(found.parts) == {"status.etcd-missing": [NIOBE]}
    assert f"stockman apply --node {NIOBE}" in found.findings[0].problem.fix


def test_a_member_that_only_learns_is_told_with_how_far_it_is(here: Scene) -> None:
    seen = here.look()
    assert seen.talos is not None
    members = tuple(
        replace(one, is_learner=one.hostname == NIOBE) for one in seen.talos.etcd.members
    )
    for name in (TRINITY, NEO, NIOBE):
        seen = with_answer(seen, name, members=members)

    found = assess(seen, [StatusCheck.ETCD])

    assert codes(found.parts) == {"status.etcd-learner": [NIOBE]}
    assert "entries behind the leader" in found.findings[0].problem.why


def test_a_member_that_no_controller_is_is_told(here: Scene) -> None:
    here.desired = replace(
        here.desired, nodes=tuple(one for one in here.desired.nodes if one.name != NIOBE)
    )

    found = here.codes(StatusCheck.ETCD)

    assert found == {"status.etcd-stranger": [NIOBE]}


def test_alarms_are_told_by_the_machine_that_raised_them(here: Scene) -> None:
    seen = here.look()
    assert seen.talos is not None
    member = seen.talos.etcd.member_of(NEO)
    assert member is not None
    alarm = EtcdAlarm(member=member.id, alarm="NOSPACE")

    found = assess(replace(seen, alarms=(alarm,)), [StatusCheck.ETCD])

    assert codes(found.parts) == {"status.etcd-alarm": [NEO]}


def test_alarms_that_nobody_tells_are_unknown(here: Scene) -> None:
    found = assess(replace(here.look(), alarms=None), [StatusCheck.ETCD])

    assert codes(found.parts) == {"status.unknown": ["alarms of etcd"]}
    assert found.healthy


def test_a_database_that_is_nearly_full_is_told(here: Scene) -> None:
    seen = here.look()
    assert seen.talos is not None
    status = next(one.status for one in seen.talos.etcd.answers if one.node == NEO)
    assert status is not None
    seen = with_answer(seen, NEO, status=replace(status, db_size=1900 << 20))

    assert codes(assess(seen, [StatusCheck.ETCD]).parts) == {"status.etcd-large": [NEO]}


def test_etcd_of_which_nobody_tells_is_unknown_and_not_empty(here: Scene) -> None:
    seen = here.look()
    assert seen.talos is not None
    silent = tuple(EtcdReport(node=one.node, why="no answer") for one in seen.talos.etcd.answers)
    talos = replace(seen.talos, etcd=ObservedEtcd(answers=silent))

    found = assess(replace(seen, observed=replace(seen.observed, talos=talos)), [StatusCheck.ETCD])

    assert codes(found.parts) == {"status.etcd-silent": ["etcd"]}
    assert (found.parts[0].health, found.healthy) == (Health.UNKNOWN, False)


def test_machines_that_nobody_asked_are_unknown(here: Scene) -> None:
    seen = here.look()
    nobody = replace(seen, observed=replace(seen.observed, talos=None))

    found = assess(nobody, [StatusCheck.TALOS, StatusCheck.ETCD])

    assert [one.health for one in found.parts] == [Health.UNKNOWN, Health.UNKNOWN]
    assert not found.healthy
