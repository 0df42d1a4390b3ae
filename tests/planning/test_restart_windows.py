"""Which steps wait for a window."""

from __future__ import annotations

from typing import Literal
from uuid import UUID

import pytest

from stockman.model.names import HostName, Vmid
from stockman.model.policies import Window
from stockman.planning.windows import gate_restarts, maintenance_windows, nodes_to_restart
from stockman.steps.base import Action, Checkpoint
from stockman.steps.step import Stage, Step
from stockman.steps.vm.configure import MoveVm
from stockman.steps.vm.identity import GuestIdentity
from stockman.steps.vm.power import RestartVm, StartVm
from stockman.steps.window import WindowOpen

WINDOWS = maintenance_windows([Window(start="0 3 * * 6", duration="4h", timezone="Europe/Berlin")])
Kind = Literal["qemu", "lxc"]
NEO, TRINITY = HostName("neo"), HostName("trinity")


def who(kind: Kind = "qemu") -> GuestIdentity:
    return GuestIdentity(cluster="pve", vmid=Vmid(1031), name="cp-1", uuid=UUID(int=7), kind=kind)


def step(name: str, action: Action | None = None) -> Step:
    found = action or Checkpoint(text=name)
    return Step(id=name, action=found, stage=Stage.VMS, node=name.rpartition("/")[2])


def waiting(*steps: Step) -> set[str]:
    gated = gate_restarts({step.id: step for step in steps}, WINDOWS)
    return {
        name
        for name, gated_step in gated.items()
        if any(g.kind == "window.open" for g in gated_step.gates)
    }


RESTART = step("vms/restart/cp-1", RestartVm(vm=who(), host=NEO, keys=("cores",)))


def test_a_restart_and_the_drain_before_it_wait_and_nothing_else_does() -> None:
    others = (step("vms/configure/cp-1"), step("nodes/back/cp-1"), step("nodes/drain/cp-2"))

    assert waiting(step("nodes/drain/cp-1"), RESTART, *others) == {
        "nodes/drain/cp-1",
        "vms/restart/cp-1",
    }


@pytest.mark.parametrize(
    ("kind", "down", "waits"), [("qemu", False, False), ("qemu", True, True), ("lxc", False, True)]
)
def test_a_move_waits_where_the_guest_goes_down_for_it(
    kind: Kind, *, down: bool, waits: bool
) -> None:
    move = MoveVm(vm=who(kind), host=NEO, target=TRINITY, down=down)

    assert bool(waiting(step("vms/move/cp-1", move))) is waits


def test_what_does_not_run_is_started_at_any_time() -> None:
    assert waiting(step("vms/start/cp-1", StartVm(vm=who(), host=NEO))) == set()


def test_a_controller_that_joins_etcd_anew_does_not_wait() -> None:
    steps = (step("nodes/drain/cp-1"), step("talos/rejoin/cp-1"), RESTART)

    assert waiting(*steps) == set()
    assert nodes_to_restart({step.id: step for step in steps}) == ()


def test_without_windows_nothing_waits() -> None:
    assert gate_restarts({RESTART.id: RESTART}, ()) == {RESTART.id: RESTART}


def test_the_gate_is_asked_before_all_others() -> None:
    found = gate_restarts({RESTART.id: RESTART}, WINDOWS)[RESTART.id]

    assert found.gates == (WindowOpen(windows=WINDOWS), *RESTART.gates)
