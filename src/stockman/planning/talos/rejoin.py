"""Controllers that run and are no members of etcd: which they are, and their way back."""

from __future__ import annotations

from stockman.planning.observed.talos import ObservedTalos
from stockman.planning.talos.desired import DesiredTalos
from stockman.steps.etcd.members import NotEtcdMember, RejoinEtcd
from stockman.steps.etcd.view import reports_by_node
from stockman.steps.step import Stage, Step
from stockman.steps.talos.gates import MachineIdentity
from stockman.steps.talos.machine import TalosMachine

_RUNNING = "running"
_FAILED = "Failed"
_OUT = ("Waiting", "Running", "Finished")
"""States of an etcd that was begun; Talos starts one that failed again and again."""


def rejoin_step_id(node: str) -> str:
    """The step after which a controller is in etcd again."""
    return f"talos/rejoin/{node}"


def find_controllers_outside_etcd(wish: DesiredTalos, observed: ObservedTalos) -> tuple[str, ...]:
    """Controllers that run and that the members of etcd do not have in their list."""
    if not observed.etcd.members:
        return ()
    return tuple(
        name
        for name in (str(node.name) for node in wish.controllers)
        if name not in wish.fresh
        and (seen := observed.machine(name)) is not None
        and seen.is_configured
        and observed.etcd.member_of(name) is None
    )


def was_removed_from_etcd(wish: DesiredTalos, observed: ObservedTalos, node: str) -> bool:
    """Whether somebody took a controller out of etcd; one that joins for the first time is not."""
    seen, answer = observed.machine(node), reports_by_node(observed.etcd).get(node)
    if node not in find_controllers_outside_etcd(wish, observed) or seen is None or answer is None:
        return False
    is_up = seen.status is not None and seen.status.stage == _RUNNING
    return answer.state == _FAILED or (is_up and answer.state in _OUT)


def rejoin_step(
    machine: TalosMachine, boot_id: str, others: tuple[TalosMachine, ...], reason: str
) -> Step:
    """A controller joins etcd anew."""
    node = machine.node
    return Step(
        id=rejoin_step_id(node),
        action=RejoinEtcd(machine=machine, boot_id=boot_id, others=others),
        stage=Stage.TALOS,
        reason=reason,
        gates=(MachineIdentity(machine=machine), NotEtcdMember(node=node, others=others)),
        deadline=1800.0,
        node=node,
        seconds=120.0,
    )
