"""Machines whose VMs were started a moment ago: waited for, unless their cluster knows them."""

from __future__ import annotations

from stockman.planning.talos.changes import BootstrapEtcdChange, EtcdStartingChange, JoinChange
from tests.steps.talos_scene import NEO, NIOBE, TRINITY, scene

ALL = frozenset({TRINITY, NEO, NIOBE})


def test_machines_that_do_not_answer_yet_are_waited_for_and_etcd_begins_after_them() -> None:
    found = scene()

    changes = found.changes(rising=ALL, api_answers=False)

    assert {one.node for one in changes if isinstance(one, JoinChange)} == ALL
    assert [one.node for one in changes if isinstance(one, BootstrapEtcdChange)] == [TRINITY]


def test_nothing_is_planned_while_one_of_them_was_started_long_ago() -> None:
    found = scene()

    changes = found.changes(rising=ALL - {NIOBE}, api_answers=False)

    assert {one.node for one in changes if isinstance(one, JoinChange)} == {TRINITY, NEO}
    assert not any(isinstance(one, BootstrapEtcdChange) for one in changes)


def test_a_member_of_etcd_that_boots_again_is_left_alone() -> None:
    found = scene(up=True)
    found.power_off(NIOBE)

    changes = found.changes(rising=frozenset({NIOBE}))

    assert [one for one in changes if isinstance(one, JoinChange)] == []


def test_an_etcd_that_began_a_moment_ago_is_waited_for_before_kubernetes() -> None:
    found = scene(up=True)

    changes = found.changes(rising=ALL, api_answers=False)
    steps = [step.id for step in found.plan(rising=ALL, api_answers=False)]

    assert [type(one) for one in changes if isinstance(one, EtcdStartingChange)] == [
        EtcdStartingChange
    ]
    assert "talos/bootstrap" not in steps
    assert {"talos/etcd-healthy", "talos/shared-address"} <= set(steps)


def test_what_waits_for_etcd_is_left_out_while_it_cannot_begin() -> None:
    found = scene()

    steps = {step.id for step in found.plan(rising=ALL - {NIOBE}, api_answers=False)}

    assert {f"talos/configure/{TRINITY}", f"talos/configure/{NEO}"} <= steps
    assert not [one for one in steps if one.startswith("talos/joined/")]
