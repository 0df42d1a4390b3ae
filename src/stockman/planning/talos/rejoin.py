"""Controllers that run outside of etcd, and the step that lets them rejoin."""

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
"""States of an etcd that was bootstrapped; Talos restarts a failed one again and again."""


def rejoin_step_id(node: str) -> str:
    """Return the id of the step after which a controller is an etcd member again."""
    return f"talos/rejoin/{node}"


def find_controllers_outside_etcd(
    desired: DesiredTalos, observed: ObservedTalos
) -> tuple[str, ...]:
    """Return running controllers that are not in the member list of etcd."""
    if not observed.etcd.members:
        return ()
    return tuple(
        name
        for name in (str(node.name) for node in desired.controllers)
        if name not in desired.fresh
        and (machine := observed.machine(name)) is not None
        and machine.is_configured
        and observed.etcd.member_of(name) is None
    )


def was_removed_from_etcd(desired: DesiredTalos, observed: ObservedTalos, node: str) -> bool:
    """Whether a controller was removed from etcd, unlike one that joins for the first time."""
    machine, answer = observed.machine(node), reports_by_node(observed.etcd).get(node)
    if (
        node not in find_controllers_outside_etcd(desired, observed)
        or machine is None
        or answer is None
    ):
        return False
    is_up = machine.status is not None and machine.status.stage == _RUNNING
    return answer.state == _FAILED or (is_up and answer.state in _OUT)


def rejoin_step(
    machine: TalosMachine, boot_id: str, others: tuple[TalosMachine, ...], reason: str
) -> Step:
    """Return the step that lets a controller rejoin etcd."""
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
