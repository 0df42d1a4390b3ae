"""Machines whose VMs were started a moment ago: waited for, unless their cluster knows them."""

from __future__ import annotations

from stockman.planning.talos.changes import BootstrapEtcdChange, EtcdStartingChange, JoinChange
from tests.steps.talos_scene import NEO, NIOBE, TRINITY, scene

ALL = frozenset({TRINITY, NEO, NIOBE})


def test_machines_that_do_not_answer_yet_are_waited_for_and_etcd_begins_after_them() -> None:
    cluster = scene()

    changes = cluster.changes(new=cluster.new(*ALL), api_answers=False)

    assert {change.node for change in changes if isinstance(change, JoinChange)} == ALL
    assert [change.node for change in changes if isinstance(change, BootstrapEtcdChange)] == [
        TRINITY
    ]


def test_no_etcd_is_begun_while_one_of_them_was_configured_before() -> None:
    cluster = scene()

    changes = cluster.changes(new=cluster.new(*ALL - {NIOBE}), api_answers=False)

    assert {change.node for change in changes if isinstance(change, JoinChange)} == {TRINITY, NEO}
    assert not any(isinstance(change, BootstrapEtcdChange) for change in changes)


def test_a_member_of_etcd_that_boots_again_is_left_alone() -> None:
    cluster = scene(up=True)
    cluster.power_off(NIOBE)

    changes = cluster.changes(new=cluster.new(NIOBE), rising=frozenset({NIOBE}))

    assert [change for change in changes if isinstance(change, JoinChange)] == []


def test_an_etcd_that_began_a_moment_ago_is_waited_for_before_kubernetes() -> None:
    cluster = scene(up=True)

    changes = cluster.changes(rising=ALL, api_answers=False)
    steps = [step.id for step in cluster.plan(rising=ALL, api_answers=False)]

    assert [type(change) for change in changes if isinstance(change, EtcdStartingChange)] == [
        EtcdStartingChange
    ]
    assert "talos/bootstrap" not in steps
    assert {"talos/etcd-healthy", "talos/shared-address"} <= set(steps)


def test_what_waits_for_etcd_is_left_out_while_it_cannot_begin() -> None:
    cluster = scene()

    steps = {step.id for step in cluster.plan(new=cluster.new(*ALL - {NIOBE}), api_answers=False)}

    assert {f"talos/configure/{TRINITY}", f"talos/configure/{NEO}"} <= steps
    assert not [step for step in steps if step.startswith("talos/joined/")]
