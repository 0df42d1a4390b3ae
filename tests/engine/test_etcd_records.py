"""Recorded runs know an earlier etcd, until a completed `destroy`."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import cast

import pytest

from stockman.engine.etcd_records import EtcdRecords
from stockman.engine.executor import RunOutcome
from stockman.engine.lifecycle import start_run
from stockman.engine.state import RunResult
from stockman.model.errors import Unreachable
from stockman.model.names import MachineAddress
from stockman.steps.etcd.bootstrap import BootstrapEtcd
from stockman.steps.plan import Plan
from stockman.steps.step import Retry
from stockman.steps.talos.machine import TalosMachine
from stockman.talos.api.client import TalosClient
from tests.engine.storage import trouble
from tests.engine.toys import Break, Scene, make, plan_of, way


class _SilentMachines:
    """Talos machines that do not answer."""

    async def services(self, node: MachineAddress) -> None:
        raise trouble(Unreachable, str(node))


def _run(scene: Scene, plan: Plan) -> RunOutcome:
    home, ports = scene.process()
    ports = replace(ports, talos=cast("TalosClient", _SilentMachines()))
    return asyncio.run(start_run(home, plan, ports, way()))


def _earlier(scene: Scene, *controllers: str, without: str = "") -> str:
    home, ports = scene.process()
    records = EtcdRecords(home.runs, ports.clock)
    return asyncio.run(records.find_earlier_etcd(controllers, without))


def _machine(node: str) -> TalosMachine:
    return TalosMachine(node=node, address=MachineAddress(f"{node}.example"))


@pytest.mark.parametrize("step", ["talos/bootstrap", "talos/etcd-healthy", "talos/leave/cp-2"])
def test_a_finished_step_of_etcd_is_known(step: str) -> None:
    scene = Scene()

    _run(scene, plan_of(make(step)))

    assert f"finished step {step}" in _earlier(scene)


def test_a_run_without_etcd_shows_nothing() -> None:
    scene = Scene()

    _run(scene, plan_of(make("talos/configure/cp-1")))

    assert _earlier(scene) == ""


def test_a_completed_destroy_ends_the_memory_and_a_later_etcd_begins_a_new_one() -> None:
    scene = Scene()
    _run(scene, plan_of(make("talos/bootstrap")))

    _run(scene, plan_of(make("vms/destroy/cp-1"), ends_cluster=True))
    after_destroy = _earlier(scene)
    _run(scene, plan_of(make("talos/etcd-healthy")))

    assert after_destroy == ""
    assert "talos/etcd-healthy" in _earlier(scene)


def test_a_destroy_that_did_not_finish_ends_nothing() -> None:
    scene = Scene()
    _run(scene, plan_of(make("talos/bootstrap")))
    failing = make("vms/destroy/cp-1", action=Break(key="cp-1"))

    outcome = _run(scene, plan_of(failing, ends_cluster=True))

    assert outcome.result is RunResult.FAILED
    assert "talos/bootstrap" in _earlier(scene)


def test_an_interrupted_bootstrap_counts_if_one_of_its_controllers_cannot_be_checked() -> None:
    scene = Scene()
    action = BootstrapEtcd(machine=_machine("cp-1"), others=(_machine("cp-2"),))
    step = make("talos/bootstrap", action=action, retry=Retry(attempts=1))

    outcome = _run(scene, plan_of(step))

    assert outcome.result is RunResult.FAILED
    assert _earlier(scene, "cp-1", "cp-2") == ""
    assert "cp-2, which cannot be checked" in _earlier(scene, "cp-1", "cp-3")
    assert _earlier(scene, "cp-1", "cp-3", without=outcome.state.run) == ""
