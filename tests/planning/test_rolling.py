"""Machines that are taken down: one after the other."""

from dataclasses import replace

from stockman.config.load import load
from stockman.config.presets import render_preset
from stockman.config.resolve import resolve
from stockman.model.desired import Node, Role
from stockman.planning.rolling import serialize_restarts
from stockman.steps.base import Checkpoint
from stockman.steps.step import Stage, Step

NAMES = ("talos-trinity", "talos-neo", "talos-niobe")


def nodes() -> tuple[Node, ...]:
    texts = render_preset("three-node")
    nodes = resolve(load({name: text.encode() for name, text in texts.items()})).nodes
    return (*nodes[:2], replace(nodes[2], role=Role.WORKER))


def step(name: str, *needs: str) -> Step:
    return Step(id=name, action=Checkpoint(text=name), stage=Stage.VMS, needs=needs)


def ordered(*steps: Step, known: frozenset[str] = frozenset(NAMES)) -> dict[str, Step]:
    return serialize_restarts({step.id: step for step in steps}, nodes(), known)


def test_the_next_machine_goes_down_when_the_last_one_is_back() -> None:
    steps = ordered(step("vms/restart/talos-trinity"), step("vms/restart/talos-neo"))

    assert steps["nodes/back/talos-trinity"].needs == ("vms/restart/talos-trinity",)
    assert "nodes/back/talos-trinity" in steps["vms/restart/talos-neo"].needs


def test_workers_come_first() -> None:
    steps = ordered(step("vms/restart/talos-trinity"), step("vms/restart/talos-niobe"))

    assert "nodes/back/talos-niobe" in steps["vms/restart/talos-trinity"].needs


def test_a_node_that_is_chosen_waits_for_no_other() -> None:
    steps = {
        node_step.id: node_step for node_step in (step(f"vms/restart/{name}") for name in NAMES)
    }

    ordered_steps = serialize_restarts(steps, nodes(), frozenset(NAMES), frozenset({"talos-neo"}))

    assert ordered_steps["vms/restart/talos-neo"].needs == ()
    assert "nodes/back/talos-neo" in ordered_steps["vms/restart/talos-niobe"].needs


def test_a_machine_is_emptied_only_when_it_is_its_turn() -> None:
    steps = ordered(
        step("nodes/drain/talos-trinity"),
        step("vms/restart/talos-trinity", "nodes/drain/talos-trinity"),
        step("nodes/drain/talos-neo"),
        step("vms/restart/talos-neo", "nodes/drain/talos-neo"),
    )

    assert steps["nodes/drain/talos-neo"].needs == ("nodes/back/talos-trinity",)


def test_a_controller_is_back_when_etcd_and_kubernetes_say_so() -> None:
    steps = ordered(step("vms/restart/talos-neo"))

    kinds = [gate.kind for gate in steps["nodes/back/talos-neo"].gates]
    assert kinds == ["talos.running", "etcd.healthy", "kube.working"]


def test_a_machine_that_kubernetes_does_not_know_need_not_be_ready_there() -> None:
    steps = ordered(step("vms/restart/talos-niobe"), known=frozenset())

    assert [gate.kind for gate in steps["nodes/back/talos-niobe"].gates] == ["talos.running"]


def test_a_new_configuration_comes_before_the_restart_of_the_vm() -> None:
    steps = ordered(step("vms/restart/talos-neo"), step("talos/reboot-into/talos-neo"))

    assert "talos/reboot-into/talos-neo" in steps["vms/restart/talos-neo"].needs
    assert steps["nodes/back/talos-neo"].needs == ("vms/restart/talos-neo",)


def test_steps_that_take_nothing_down_stay_as_they_are() -> None:
    before = {"a": step("a"), "b": step("b", "a")}

    assert serialize_restarts(before, nodes(), frozenset(NAMES)) == before


def test_a_machine_that_is_carried_to_another_host_is_back_before_the_next_goes_down() -> None:
    steps = ordered(step("vms/carry/talos-trinity"), step("vms/restart/talos-neo"))

    assert steps["nodes/back/talos-trinity"].needs == ("vms/carry/talos-trinity",)
    assert "nodes/back/talos-trinity" in steps["vms/restart/talos-neo"].needs
