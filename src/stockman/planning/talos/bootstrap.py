"""Steps that bootstrap etcd once on one controller, and wait until all controllers are members."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from stockman.planning.talos.changes import BootstrapEtcdChange, JoinChange
from stockman.planning.talos.step_ids import (
    BOOTSTRAP_STEP,
    ETCD_HEALTHY_STEP,
    ETCD_LANE,
    configure_step_id,
    join_step_id,
)
from stockman.steps.base import Checkpoint, Gate
from stockman.steps.etcd.bootstrap import BootstrapEtcd, EtcdNotBootstrapped
from stockman.steps.etcd.gates import EtcdHealthy
from stockman.steps.step import Stage, Step
from stockman.steps.talos.gates import ApiAddressHeld, MachineRunning, TimeInSync
from stockman.steps.talos.machine import TalosMachine

_ADDRESS = "talos/shared-address"
_REASONS = {
    "joined": "it is new, and later steps depend on it",
    "etcd-healthy": "the Kubernetes API stores its data in etcd",
    "shared-address": "clients and machines use it to reach the Kubernetes API",
}
"""Why a run waits, by the second part of the step id."""


def bootstrap_steps(
    change: BootstrapEtcdChange,
    controllers: tuple[TalosMachine, ...],
    joins: Iterable[JoinChange],
    shared_address: str,
) -> Iterator[Step]:
    """Return the steps for the first member, for all controllers, and for every waiting machine."""
    joining = {join.node: join for join in joins}
    others = tuple(machine for machine in controllers if machine.node != change.node)
    yield Step(
        id=BOOTSTRAP_STEP,
        action=BootstrapEtcd(machine=change.machine, others=others),
        stage=Stage.TALOS,
        reason=change.why,
        gates=(EtcdNotBootstrapped(controllers=controllers), TimeInSync(machine=change.machine)),
        needs=tuple(
            configure_step_id(machine.node) for machine in controllers if machine.node in joining
        ),
        deadline=1800.0,
        lanes=(ETCD_LANE,),
        seconds=60.0,
    )
    yield from etcd_healthy_steps(controllers, shared_address, (BOOTSTRAP_STEP,))
    for join in joining.values():
        gates = (MachineRunning(machine=join.machine),)
        yield machine_running_step(
            join.node, gates, (ETCD_HEALTHY_STEP, configure_step_id(join.node))
        )


def etcd_healthy_steps(
    controllers: tuple[TalosMachine, ...], shared_address: str, needs: tuple[str, ...] = ()
) -> Iterator[Step]:
    """Return the steps that wait for all members of etcd and for the address of the API."""
    yield _checkpoint(
        ETCD_HEALTHY_STEP,
        "wait until all controllers are members of etcd",
        (EtcdHealthy(controllers=controllers),),
        needs,
    )
    if shared_address:
        yield _checkpoint(
            _ADDRESS,
            "wait until a controller has the address of the Kubernetes API",
            (ApiAddressHeld(controllers=controllers, address=shared_address),),
            (ETCD_HEALTHY_STEP,),
        )


def machine_running_step(node: str, gates: tuple[Gate, ...], needs: tuple[str, ...]) -> Step:
    """Return the step that waits until a new machine runs."""
    return _checkpoint(join_step_id(node), f"wait until {node} is running", gates, needs, node)


def _checkpoint(
    step_id: str, text: str, gates: tuple[Gate, ...], needs: tuple[str, ...], node: str = ""
) -> Step:
    return Step(
        id=step_id,
        action=Checkpoint(text=text),
        stage=Stage.TALOS,
        reason=_REASONS[step_id.split("/")[1]],
        gates=gates,
        needs=needs,
        deadline=1800.0,
        node=node,
        seconds=60.0,
    )
