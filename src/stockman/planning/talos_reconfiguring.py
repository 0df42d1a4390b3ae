"""Other configurations for machines that run, and files for clients."""

from __future__ import annotations

from stockman.planning.talos_changes import ClientFileChange, Reconfigure
from stockman.planning.talos_step_names import ETCD_LANE, REBOOT_LANE
from stockman.planning.talos_wish import TalosWish
from stockman.steps.base import Gate
from stockman.steps.etcd_gates import EtcdQuorum
from stockman.steps.step import Stage, Step
from stockman.steps.talos_change import ChangeConfiguration
from stockman.steps.talos_gates import MachineIs
from stockman.steps.talos_machine import TalosMachine
from stockman.steps.talos_reboot_into import RebootIntoConfiguration


def reconfigured(change: Reconfigure, wish: TalosWish, quorum_of: tuple[TalosMachine, ...]) -> Step:
    """Another configuration for a machine, with a boot where it needs one.

    A controller goes down only while those of `quorum_of` can spare it. Empty: there is no etcd.
    """
    if not change.boot_id:
        return Step(
            id=f"talos/change/{change.node}",
            action=ChangeConfiguration(
                machine=change.machine,
                minor=wish.minor,
                before=change.before,
                digest=change.digest,
            ),
            stage=Stage.TALOS,
            reason=change.why,
            gates=(MachineIs(machine=change.machine),),
            lanes=(ETCD_LANE,) if change.is_controller else (),
            node=change.node,
            seconds=3.0,
        )
    quorum: tuple[Gate, ...] = ()
    if change.is_controller and quorum_of:
        quorum = (EtcdQuorum(controllers=quorum_of, node=change.node),)
    return Step(
        id=f"talos/reboot-into/{change.node}",
        action=RebootIntoConfiguration(
            machine=change.machine,
            minor=wish.minor,
            before=change.before,
            digest=change.digest,
            boot_id=change.boot_id,
        ),
        stage=Stage.TALOS,
        reason=change.why,
        gates=(MachineIs(machine=change.machine), *quorum),
        holds=wish.holds.get(change.node, ()),
        needs=wish.drained_by.get(change.node, ()),
        deadline=1800.0,
        lanes=(REBOOT_LANE, *((ETCD_LANE,) if change.is_controller else ())),
        node=change.node,
        seconds=120.0,
    )


def client_file(change: ClientFileChange) -> Step:
    """A file that clients of the cluster read."""
    return Step(
        id=f"talos/client-file/{change.action.file}",
        action=change.action,
        stage=Stage.TALOS,
        reason=change.why,
        seconds=0.5,
    )
