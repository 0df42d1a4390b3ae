"""Changes of the Talos stage: the desired machines compared with the observed ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from stockman.model.desired import Node
from stockman.model.record import record
from stockman.model.version import Version
from stockman.planning.change import Change, ChangeKind
from stockman.planning.observed.talos import ObservedMachine, ObservedTalos
from stockman.planning.talos.desired import DesiredTalos, talos_machine
from stockman.planning.talos.refusals import nodes_with_refusals, parse_both_configs
from stockman.planning.talos.rejoin import was_removed_from_etcd
from stockman.planning.vm.seeds import NewMachine
from stockman.steps.digest import digest
from stockman.steps.etcd.members import data_loss_text
from stockman.steps.step import Stage
from stockman.steps.talos.client_files import WriteClientFile
from stockman.steps.talos.machine import MachineState, TalosMachine
from stockman.talos.machine.masking import changed_paths, configuration_values, paths_needing_reboot

_UNKNOWN_STATE = (MachineState.SILENT, MachineState.BOOTING)
_MAX_LISTED = 3
"""Maximum number of paths in a reason."""


@record
class TalosChange(Change):
    """A change of the Talos stage."""

    stage: Stage = Stage.TALOS


@record
class JoinChange(TalosChange):
    """A machine gets its first configuration."""

    machine: TalosMachine
    digest: str
    is_controller: bool
    installs: bool
    version: str = ""
    """Talos version of its image, `v1.13.9`. Empty: not created from an image of stockman."""
    is_configured: bool = False
    """Whether it has its configuration already, and is joining."""
    new: NewMachine | None = None
    """How the configuration is delivered through Proxmox VE. None: over the maintenance API, to
    the certificate that the user confirmed."""


@record
class ReconfigureChange(TalosChange):
    """A running machine gets another configuration."""

    machine: TalosMachine
    before: str
    digest: str
    is_controller: bool
    boot_id: str = ""
    """The current boot, if the machine has to reboot. Empty: it does not."""


@record
class BootstrapEtcdChange(TalosChange):
    """etcd is bootstrapped."""

    machine: TalosMachine


@record
class EtcdStartingChange(TalosChange):
    """etcd was bootstrapped recently, and its controllers are joining."""


@record
class LeaveChange(TalosChange):
    """A machine leaves etcd and is reset."""

    machine: TalosMachine
    member: str = ""
    """Its etcd member id. Empty: it has none."""


@record
class RemoveDeadMemberChange(TalosChange):
    """An etcd member without a machine is removed."""

    member: str
    hostname: str
    machine: TalosMachine


@record
class RejoinChange(TalosChange):
    """A controller that was removed from etcd joins again."""

    machine: TalosMachine
    boot_id: str
    """The current boot."""


@record
class ClientFileChange(TalosChange):
    """A client file is written or renewed."""

    action: WriteClientFile


def plan_talos_changes(desired: DesiredTalos, observed: ObservedTalos) -> tuple[TalosChange, ...]:
    """Plan all changes in execution order; nodes with refusals have none."""
    refused = nodes_with_refusals(desired, observed)
    changes: list[TalosChange] = [*_leaving_changes(desired, observed)]
    for node in (
        *desired.controllers,
        *(node for node in desired.desired.nodes if not node.is_controller),
    ):
        if str(node.name) in refused:
            continue
        if rejoin := _rejoin_change(desired, observed, node):
            # Rejoining reboots the machine; other changes that need a reboot are left to the next
            # plan.
            changes.append(rejoin)
        else:
            changes += _node_changes(desired, observed, node)
    changes += _bootstrap_change(desired, observed, refused)
    changes += _etcd_starting_change(desired, observed)
    changes += _client_file_changes(desired, observed)
    return tuple(changes)


def digest_touched_machines(observed: ObservedTalos) -> Mapping[str, str]:
    """Return digests of the observed state that actions touch, by identity; without unknown
    state."""
    machines = {
        f"machine/{name}": digest(
            [
                machine.standing.value,
                str(machine.uuid),
                machine.digest,
                machine.authority,
                machine.version,
            ]
        )
        for name, machine in observed.machines.items()
        if machine.standing not in _UNKNOWN_STATE
    }
    members = sorted(
        (member.hex, member.hostname, member.is_learner) for member in observed.etcd.members
    )
    files = {
        f"file/{name}": digest([name, None if lack is None else not lack])
        for name, lack in observed.client_files.items()
    }
    return {**machines, **files, "etcd": digest([members])}


def _node_changes(
    desired: DesiredTalos, observed: ObservedTalos, node: Node
) -> Iterator[TalosChange]:
    name = str(node.name)
    machine = observed.machine(name)
    if name in desired.fresh:
        if name in desired.new:
            yield _join_change(desired, node, "its VM is created by this plan")
    elif machine is not None and machine.standing is MachineState.MAINTENANCE:
        yield _join_change(desired, node, "it is in maintenance mode")
    elif _is_starting(desired, observed, name):
        yield _join_change(desired, node, "its VM is new, and it was never configured")
    elif machine is not None and machine.is_configured:
        if name in desired.new and observed.etcd.member_of(name) is None:
            join = _join_change(desired, node, "it is joining since an earlier run")
            yield replace(join, what=f"{name} joins the cluster", is_configured=True)
            return
        yield from _config_drift(desired, node, machine)


def _is_starting(desired: DesiredTalos, observed: ObservedTalos, name: str) -> bool:
    """Whether a machine does not answer that was never configured."""
    machine = observed.machine(name)
    is_silent = machine is not None and machine.standing in _UNKNOWN_STATE
    return is_silent and name in desired.new and observed.etcd.member_of(name) is None


def _rejoin_change(
    desired: DesiredTalos, observed: ObservedTalos, node: Node
) -> RejoinChange | None:
    """Plan the rejoin of a controller that was removed from etcd. None: it is a member, or
    joining."""
    name = str(node.name)
    machine = observed.machine(name)
    if (
        machine is None
        or machine.boot_id is None
        or not was_removed_from_etcd(desired, observed, name)
    ):
        return None
    return RejoinChange(
        what=f"{name} rejoins etcd, with a reboot",
        why="it was removed from etcd, which never accepts the data of a removed member again",
        mark=ChangeKind.CHANGE,
        node=name,
        destroys=data_loss_text(name),
        machine=talos_machine(node),
        boot_id=machine.boot_id,
    )


def _join_change(desired: DesiredTalos, node: Node, why: str) -> JoinChange:
    text = desired.configurations[str(node.name)]
    installs = desired.cluster.talos.platform == "metal"
    role = "controller" if node.is_controller else "worker"
    name = str(node.name)
    machine = talos_machine(node)
    if name not in desired.new:
        machine = replace(machine, fingerprint=desired.confirmed.get(name, ""))
    return JoinChange(
        what=f"{node.name} gets its first configuration, as a {role}",
        why=why,
        mark=ChangeKind.ADD,
        node=name,
        machine=machine,
        digest=configuration_values(text, desired.minor).digest,
        is_controller=node.is_controller,
        installs=installs,
        version=desired.cluster.talos.version.tagged if node.vm is not None else "",
        new=desired.new.get(name),
    )


def _config_drift(
    desired: DesiredTalos, node: Node, machine: ObservedMachine
) -> Iterator[ReconfigureChange]:
    before, after = parse_both_configs(desired, node, machine)
    if before is None or after is None or machine.version is None:
        return
    paths = changed_paths(before, after)
    if not paths:
        return
    version = Version.parse(machine.version)
    boots = paths_needing_reboot(paths, version)
    differ = "differs" if len(paths) == 1 else "differ"
    if boots:
        how = f"staged and with a reboot, because Talos {version.minor_text} needs one for"
        why = f"{_shorten_names(paths)} {differ}; {how} {_shorten_names(boots)}"
    else:
        names = _shorten_names(paths)
        why = f"{names} {differ}; Talos {version.minor_text} applies that without a reboot"
    if boots and machine.boot_id is None:
        return
    yield ReconfigureChange(
        what=f"{node.name} gets another configuration" + (", with a reboot" if boots else ""),
        why=why,
        mark=ChangeKind.CHANGE,
        node=str(node.name),
        machine=talos_machine(node),
        before=before.digest,
        digest=after.digest,
        is_controller=node.is_controller,
        boot_id=(machine.boot_id or "") if boots else "",
    )


def _leaving_changes(desired: DesiredTalos, observed: ObservedTalos) -> Iterator[TalosChange]:
    """Plan machines that leave, and those whose VMs are recreated."""
    again = {
        str(node.name): talos_machine(node)
        for node in desired.desired.nodes
        if str(node.name) in desired.fresh
    }
    gone = {
        name: TalosMachine(node=name, address=address) for name, address in desired.leaving.items()
    }
    for name, machine in {**gone, **again}.items():
        state = observed.machine(name)
        member = observed.etcd.member_of(name)
        id_ = member.hex if member is not None else ""
        why = "its VM is recreated" if name in again else "it is no longer configured"
        if state is not None and state.is_configured:
            bound = TalosMachine(node=name, address=machine.address, uuid=state.uuid)
            yield LeaveChange(
                what=f"{name} leaves the cluster and is reset",
                why=why,
                mark=ChangeKind.REMOVE,
                node=name,
                destroys=f"the data on the system disk of {name}",
                machine=bound,
                member=id_,
            )
        elif member is not None:
            yield RemoveDeadMemberChange(
                what=f"dead etcd member {id_} ({name}) is removed",
                why=f"{why}, and the machine does not answer",
                mark=ChangeKind.REMOVE,
                node=name,
                destroys=f"etcd member {id_} ({name})",
                member=id_,
                hostname=name,
                machine=machine,
            )


def _bootstrap_change(
    desired: DesiredTalos, observed: ObservedTalos, refused: frozenset[str]
) -> Iterator[BootstrapEtcdChange]:
    """Plan the bootstrap of etcd if every controller is known or created by this plan, and none
    has data."""
    if not desired.controllers or observed.etcd.begun or observed.etcd.members:
        return
    for node in desired.controllers:
        name = str(node.name)
        known = _is_known(observed, name)
        is_new = name in desired.new and (
            name in desired.fresh or _is_starting(desired, observed, name)
        )
        if name in refused or not (known or is_new):
            return
    first = talos_machine(desired.controllers[0])
    yield BootstrapEtcdChange(
        what=f"etcd is bootstrapped on {first.node}",
        why="no controller has etcd data",
        mark=ChangeKind.ADD,
        node=first.node,
        machine=first,
    )


def missing_controllers(
    desired: DesiredTalos, observed: ObservedTalos, changes: Iterable[TalosChange]
) -> tuple[str, ...]:
    """Return controllers that are missing for the bootstrap of etcd, with what is known of them.

    Empty: it can be or was bootstrapped, or is not configured. Until then nothing that depends on
    it is done.
    """
    if observed.etcd.begun or observed.etcd.members:
        return ()
    if any(isinstance(change, BootstrapEtcdChange) for change in changes):
        return ()
    joins = {change.node for change in changes if isinstance(change, JoinChange)}
    return tuple(
        f"{node.name} ({node.address.ip}): {_machine_text(observed.machine(str(node.name)))}"
        for node in desired.controllers
        if str(node.name) not in joins and not _is_known(observed, str(node.name))
    )


def _machine_text(machine: ObservedMachine | None) -> str:
    return (machine.why if machine is not None else "") or "no answer"


def _is_known(observed: ObservedTalos, name: str) -> bool:
    machine = observed.machine(name)
    return machine is not None and machine.standing in (
        MachineState.CONFIGURED,
        MachineState.MAINTENANCE,
    )


def _etcd_starting_change(
    desired: DesiredTalos, observed: ObservedTalos
) -> Iterator[EtcdStartingChange]:
    """Plan to wait for an etcd that an earlier run bootstrapped."""
    begun = observed.etcd.begun or observed.etcd.members
    names = {str(node.name) for node in desired.controllers}
    if begun and not desired.api_answers and names <= desired.rising:
        yield EtcdStartingChange(
            what="etcd and the Kubernetes API start",
            why="etcd is bootstrapped and its machines started recently; no API answers yet",
            mark=ChangeKind.CHANGE,
        )


def _client_file_changes(
    desired: DesiredTalos, observed: ObservedTalos
) -> Iterator[ClientFileChange]:
    for action in desired.client_files:
        if lack := observed.client_files.get(action.file):
            yield ClientFileChange(
                what=f"{action.file} of {action.cluster} is written",
                why=lack,
                mark=ChangeKind.CHANGE,
                action=action,
            )


def _shorten_names(paths: tuple[str, ...]) -> str:
    shown = ", ".join(paths[:_MAX_LISTED])
    return f"{shown} and {len(paths) - _MAX_LISTED} more" if len(paths) > _MAX_LISTED else shown
