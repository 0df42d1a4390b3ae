"""Changes of the Talos stage: what is wanted of machines against what was seen of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from stockman.model.desired import Node
from stockman.model.record import record
from stockman.model.version import Version
from stockman.planning.change import Change, ChangeKind
from stockman.planning.observed.talos import ObservedMachine, ObservedTalos
from stockman.planning.talos.desired import DesiredTalos, talos_machine
from stockman.planning.talos.refusals import nodes_with_refusals, parse_both_configs
from stockman.planning.talos.rejoin import was_removed_from_etcd
from stockman.steps.digest import digest
from stockman.steps.etcd.members import data_loss_text
from stockman.steps.step import Stage
from stockman.steps.talos.client_files import WriteClientFile
from stockman.steps.talos.machine import MachineState, TalosMachine
from stockman.talos.machine.values import changed_paths, configuration_values, paths_needing_reboot

_UNKNOWN_STATE = (MachineState.SILENT, MachineState.BOOTING)
_MAX_LISTED = 3
"""Paths that a reason names."""


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
    """The Talos that its image has, `v1.13.9`. Empty: it is not from an image of ours."""


@record
class ReconfigureChange(TalosChange):
    """A machine that runs gets another configuration."""

    machine: TalosMachine
    before: str
    digest: str
    is_controller: bool
    boot_id: str = ""
    """The boot that it is in, where it has to boot again. Empty: it need not."""


@record
class BootstrapEtcdChange(TalosChange):
    """etcd begins."""

    machine: TalosMachine


@record
class EtcdStartingChange(TalosChange):
    """etcd has begun a moment ago, and its controllers are on their way into it."""


@record
class LeaveChange(TalosChange):
    """A machine goes: out of etcd, and reset."""

    machine: TalosMachine
    member: str = ""
    """Its id in etcd. Empty: it has none."""


@record
class RemoveDeadMemberChange(TalosChange):
    """A member of etcd is taken out whose machine is gone."""

    member: str
    hostname: str
    machine: TalosMachine


@record
class RejoinChange(TalosChange):
    """A controller that was taken out of etcd joins anew."""

    machine: TalosMachine
    boot_id: str
    """The boot that it is in."""


@record
class ClientFileChange(TalosChange):
    """A file for clients is written or renewed."""

    action: WriteClientFile


def plan_talos_changes(wish: DesiredTalos, observed: ObservedTalos) -> tuple[TalosChange, ...]:
    """All changes, in the order of what is done first; nodes that speak against it have none."""
    refused = nodes_with_refusals(wish, observed)
    found: list[TalosChange] = [*_leaving_changes(wish, observed)]
    for node in (*wish.controllers, *(one for one in wish.desired.nodes if not one.is_controller)):
        if str(node.name) in refused:
            continue
        if outside := _rejoin_change(wish, observed, node):
            # It boots for that: what it would boot for otherwise is left to the next plan.
            found.append(outside)
        else:
            found += _node_changes(wish, observed, node)
    found += _bootstrap_change(wish, observed, refused)
    found += _etcd_starting_change(wish, observed)
    found += _client_file_changes(wish, observed)
    return tuple(found)


def digest_touched_machines(observed: ObservedTalos) -> Mapping[str, str]:
    """Digests of what actions touch, as it was seen, by identity; not of what nobody saw."""
    machines = {
        f"machine/{name}": digest(
            [seen.standing.value, str(seen.uuid), seen.digest, seen.authority, seen.version]
        )
        for name, seen in observed.machines.items()
        if seen.standing not in _UNKNOWN_STATE
    }
    members = sorted((one.hex, one.hostname, one.is_learner) for one in observed.etcd.members)
    files = {
        f"file/{name}": digest([name, None if lack is None else not lack])
        for name, lack in observed.client_files.items()
    }
    return {**machines, **files, "etcd": digest([members])}


def _node_changes(wish: DesiredTalos, observed: ObservedTalos, node: Node) -> Iterator[TalosChange]:
    name = str(node.name)
    seen = observed.machine(name)
    if name in wish.fresh:
        yield _join_change(wish, node, "its VM is made by this plan")
    elif seen is not None and seen.standing is MachineState.MAINTENANCE:
        yield _join_change(wish, node, "it waits for its configuration")
    elif _is_starting(wish, observed, name):
        yield _join_change(
            wish, node, "its VM was started, it does not answer yet, and nobody knows it"
        )
    elif seen is not None and seen.is_configured:
        yield from _config_drift(wish, node, seen)


def _is_starting(wish: DesiredTalos, observed: ObservedTalos, name: str) -> bool:
    """Whether a machine is on its way up that may have no configuration yet."""
    seen = observed.machine(name)
    is_silent = seen is not None and seen.standing in _UNKNOWN_STATE
    return is_silent and name in wish.rising and observed.etcd.member_of(name) is None


def _rejoin_change(wish: DesiredTalos, observed: ObservedTalos, node: Node) -> RejoinChange | None:
    """The way back of a controller that was taken out of etcd. None: it is in it, or on its way."""
    name = str(node.name)
    seen = observed.machine(name)
    if seen is None or seen.boot_id is None or not was_removed_from_etcd(wish, observed, name):
        return None
    return RejoinChange(
        what=f"{name} joins etcd anew, with a reboot",
        why="it was taken out of etcd, which never lets the data of such a member in again",
        mark=ChangeKind.CHANGE,
        node=name,
        destroys=data_loss_text(name),
        machine=talos_machine(node),
        boot_id=seen.boot_id,
    )


def _join_change(wish: DesiredTalos, node: Node, why: str) -> JoinChange:
    text = wish.configurations[str(node.name)]
    installs = wish.cluster.talos.platform == "metal"
    role = "controller" if node.is_controller else "worker"
    return JoinChange(
        what=f"{node.name} gets its first configuration, as a {role}",
        why=why,
        mark=ChangeKind.ADD,
        node=str(node.name),
        machine=talos_machine(node),
        digest=configuration_values(text, wish.minor).digest,
        is_controller=node.is_controller,
        installs=installs,
        version=wish.cluster.talos.version.tagged if node.vm is not None else "",
    )


def _config_drift(
    wish: DesiredTalos, node: Node, seen: ObservedMachine
) -> Iterator[ReconfigureChange]:
    before, after = parse_both_configs(wish, node, seen)
    if before is None or after is None or seen.version is None:
        return
    paths = changed_paths(before, after)
    if not paths:
        return
    version = Version.parse(seen.version)
    boots = paths_needing_reboot(paths, version)
    differ = "differs" if len(paths) == 1 else "differ"
    if boots:
        how = f"staged and with a reboot, because Talos {version.minor_text} boots for"
        why = f"{_shorten_names(paths)} {differ}; {how} {_shorten_names(boots)}"
    else:
        names = _shorten_names(paths)
        why = f"{names} {differ}; Talos {version.minor_text} applies that without a reboot"
    if boots and seen.boot_id is None:
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
        boot_id=(seen.boot_id or "") if boots else "",
    )


def _leaving_changes(wish: DesiredTalos, observed: ObservedTalos) -> Iterator[TalosChange]:
    """Machines that leave for good, and those whose VMs are made anew."""
    again = {
        str(node.name): talos_machine(node)
        for node in wish.desired.nodes
        if str(node.name) in wish.fresh
    }
    gone = {
        name: TalosMachine(node=name, address=address) for name, address in wish.leaving.items()
    }
    for name, machine in {**gone, **again}.items():
        seen = observed.machine(name)
        member = observed.etcd.member_of(name)
        id_ = member.hex if member is not None else ""
        why = "its VM is made anew" if name in again else "it is not wanted any more"
        if seen is not None and seen.is_configured:
            bound = TalosMachine(node=name, address=machine.address, uuid=seen.uuid)
            yield LeaveChange(
                what=f"{name} leaves the cluster and is reset",
                why=why,
                mark=ChangeKind.REMOVE,
                node=name,
                destroys=f"what {name} keeps on its system disk",
                machine=bound,
                member=id_,
            )
        elif member is not None:
            yield RemoveDeadMemberChange(
                what=f"etcd loses its dead member {id_} ({name})",
                why=f"{why}, and the machine does not answer",
                mark=ChangeKind.REMOVE,
                node=name,
                destroys=f"etcd member {id_} ({name})",
                member=id_,
                hostname=name,
                machine=machine,
            )


def _bootstrap_change(
    wish: DesiredTalos, observed: ObservedTalos, refused: frozenset[str]
) -> Iterator[BootstrapEtcdChange]:
    """etcd begins where every controller is known, or made by this plan, and none has data."""
    if not wish.controllers or observed.etcd.begun or observed.etcd.members:
        return
    for node in wish.controllers:
        name = str(node.name)
        known = _is_known(observed, name)
        made = name in wish.fresh or _is_starting(wish, observed, name)
        if name in refused or not (known or made):
            return
    first = talos_machine(wish.controllers[0])
    yield BootstrapEtcdChange(
        what=f"etcd begins on {first.node}",
        why="no controller has data of an etcd",
        mark=ChangeKind.ADD,
        node=first.node,
        machine=first,
    )


def missing_controllers(
    wish: DesiredTalos, observed: ObservedTalos, found: Iterable[TalosChange]
) -> tuple[str, ...]:
    """Controllers that etcd cannot begin without, each with what is known of it.

    Empty: it begins, it has begun, or nobody wants one. Until then nothing that needs it is done.
    """
    if observed.etcd.begun or observed.etcd.members:
        return ()
    if any(isinstance(one, BootstrapEtcdChange) for one in found):
        return ()
    joins = {one.node for one in found if isinstance(one, JoinChange)}
    return tuple(
        f"{node.name} ({node.address.ip}): {_machine_text(observed.machine(str(node.name)))}"
        for node in wish.controllers
        if str(node.name) not in joins and not _is_known(observed, str(node.name))
    )


def _machine_text(seen: ObservedMachine | None) -> str:
    return (seen.why if seen is not None else "") or "no answer"


def _is_known(observed: ObservedTalos, name: str) -> bool:
    seen = observed.machine(name)
    return seen is not None and seen.standing in (MachineState.CONFIGURED, MachineState.MAINTENANCE)


def _etcd_starting_change(
    wish: DesiredTalos, observed: ObservedTalos
) -> Iterator[EtcdStartingChange]:
    """etcd was begun by a run that did not see it come up."""
    begun = observed.etcd.begun or observed.etcd.members
    names = {str(node.name) for node in wish.controllers}
    if begun and not wish.api_answers and names <= wish.rising:
        yield EtcdStartingChange(
            what="etcd and the Kubernetes API come up",
            why="etcd has begun, its machines were started a moment ago, and no API answers yet",
            mark=ChangeKind.CHANGE,
        )


def _client_file_changes(wish: DesiredTalos, observed: ObservedTalos) -> Iterator[ClientFileChange]:
    for action in wish.client_files:
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
