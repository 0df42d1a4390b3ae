"""Plans that look at a part only, and plans of which a part cannot be done yet."""

from __future__ import annotations

from pathlib import Path

import pytest

from stockman.app.runs.plans import PlanOptions
from stockman.model.errors import Refused
from stockman.steps.step import Stage
from tests.acceptance.fault_scenes import VMS
from tests.acceptance.process import Process
from tests.acceptance.reference import reference
from tests.acceptance.scene import CONTROLLER, Scene
from tests.acceptance.troubles import host_dies, host_returns

ON_PROXMOX = {"proxmox", "proxmox-admin"}


def systems_asked(process: Process) -> set[str]:
    """Systems that a process called, besides its own files."""
    return {call.system for call in process.calls} & (ON_PROXMOX | {"talos", "kubernetes"})


@pytest.mark.parametrize(
    "wish",
    [
        PlanOptions(only=(Stage.ACCESS,)),
        PlanOptions(only=(Stage.IMAGES,)),
        PlanOptions(only=(Stage.VMS,)),
        PlanOptions(until="vms"),
        PlanOptions(only=(Stage.ACCESS, Stage.VMS)),
    ],
    ids=str,
)
def test_stages_on_proxmox_ask_nobody_else(wish: PlanOptions, tmp_path: Path) -> None:
    process = Process()

    planned = reference().scene(tmp_path).plan(wish, process)

    assert systems_asked(process) <= ON_PROXMOX
    assert [one.system for one in planned.observed.counted] == ["Proxmox VE cluster pve"]
    assert (planned.changes, planned.plan.steps) == ((), ())


def test_whoever_makes_all_machines_asks_none_of_them(tmp_path: Path) -> None:
    process = Process()

    life = Scene.made(tmp_path).apply(process, PlanOptions(only=(Stage.VMS,)))

    assert life.is_done, life.why
    assert "talos" not in systems_asked(process)


def test_a_machine_that_is_made_beside_others_asks_them_first(tmp_path: Path) -> None:
    scene = reference().scene(tmp_path)
    scene.files.append("nodes.yaml", CONTROLLER)
    process = Process()

    scene.plan(PlanOptions(only=(Stage.VMS,)), process)

    assert {"talos", "kubernetes"} <= systems_asked(process)


def test_a_node_that_needs_nothing_is_nothing_to_do_and_may_be_given_by_its_address(
    tmp_path: Path,
) -> None:
    scene = reference().scene(tmp_path)

    assert scene.plan(PlanOptions(nodes=("talos-neo",))).plan.steps == ()
    plan = Scene.made(tmp_path / "new").plan(PlanOptions(nodes=("127.68.0.17",)))
    assert {step.node for step in plan.plan.steps} >= {"talos-neo"}


def test_a_node_that_nobody_knows_is_refused(tmp_path: Path) -> None:
    scene = reference().scene(tmp_path)

    with pytest.raises(Refused, match=r"there is no node talos-neon"):
        scene.plan(PlanOptions(nodes=("talos-neon",)))


def test_what_is_not_done_is_not_shown(tmp_path: Path) -> None:
    planned = Scene.made(tmp_path).plan(PlanOptions(only=(Stage.VMS,)))

    assert "access/render" not in {step.id for step in planned.plan.steps}
    assert "rendered files of the repository" not in {change.what for change in planned.changes}


def test_while_a_controller_is_away_nothing_is_planned_that_needs_etcd(tmp_path: Path) -> None:
    scene = Scene.made(tmp_path)
    scene.files.edit("nodes.yaml", "      ha:\n", "      ha:\n        enabled: false\n")
    assert scene.apply(wish=VMS).is_done
    host_dies("niobe")(scene)
    scene.world.advance(60.0)

    planned = scene.plan()

    steps = {step.id for step in planned.plan.steps}
    assert {"talos/configure/talos-trinity", "talos/configure/talos-neo"} <= steps
    assert not [
        step for step in steps if step.startswith(("kubernetes/", "nodes/", "talos/joined/"))
    ]
    assert "talos/bootstrap" not in steps
    told = {warning.code: warning for warning in planned.problems.warnings}
    assert "talos-niobe" in told["plan.etcd-waits"].why


def test_it_goes_on_once_the_controller_is_back(tmp_path: Path) -> None:
    scene = Scene.made(tmp_path)
    scene.files.edit("nodes.yaml", "      ha:\n", "      ha:\n        enabled: false\n")
    assert scene.apply(wish=VMS).is_done
    host_dies("niobe")(scene)
    scene.world.advance(60.0)
    part = scene.apply()
    host_returns("niobe")(scene)

    apply = scene.apply()

    assert part.is_done, part.why
    assert apply.is_done, apply.why
    assert apply.outcome is not None
    assert "kubernetes/wait/repository" in apply.outcome.state.steps


def test_every_step_of_a_bootstrap_says_why_and_what_it_waits_for(tmp_path: Path) -> None:
    planned = Scene.made(tmp_path).plan()

    assert [step.id for step in planned.plan.steps if not step.reason] == []
    assert [step.id for step in planned.plan.steps if not step.action.summary] == []
    assert all(gate.summary for step in planned.plan.steps for gate in step.gates)
