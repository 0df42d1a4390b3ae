"""Changes of the Talos stage: what is wanted of machines against what was seen of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from stockman.model.desired import Node
from stockman.model.record import record
from stockman.model.version import Version
from stockman.planning.change import Change, Mark
from stockman.planning.observed_talos import ObservedMachine, ObservedTalos
from stockman.planning.talos_outside import was_taken_out
from stockman.planning.talos_refusals import compared, refused_nodes
from stockman.planning.talos_wish import TalosWish, machine_of
from stockman.steps.digest import digest
from stockman.steps.etcd_rejoin import lost_with
from stockman.steps.step import Stage
from stockman.steps.talos_clients import WriteClientFile
from stockman.steps.talos_machine import Standing, TalosMachine
from stockman.talos.machine.live import boots_for
from stockman.talos.machine.values import configuration_values, differing

_UNSEEN = (Standing.SILENT, Standing.BOOTING)
_MOST = 3
"""Paths that a reason names."""


@record
class TalosChange(Change):
    """A change of the Talos stage."""

    stage: Stage = Stage.TALOS


@record
class Join(TalosChange):
    """A machine gets its first configuration."""

    machine: TalosMachine
    digest: str
    is_controller: bool
    installs: bool
    version: str = ""
    """The Talos that its image has, `v1.13.9`. Empty: it is not from an image of ours."""


@record
class Reconfigure(TalosChange):
    """A machine that runs gets another configuration."""

    machine: TalosMachine
    before: str
    digest: str
    is_controller: bool
    boot_id: str = ""
    """The boot that it is in, where it has to boot again. Empty: it need not."""


@record
class BeginEtcd(TalosChange):
    """etcd begins."""

    machine: TalosMachine


@record
class EtcdComesUp(TalosChange):
    """etcd has begun a moment ago, and its controllers are on their way into it."""


@record
class Leave(TalosChange):
    """A machine goes: out of etcd, and reset."""

    machine: TalosMachine
    member: str = ""
    """Its id in etcd. Empty: it has none."""


@record
class RemoveDead(TalosChange):
    """A member of etcd is taken out whose machine is gone."""

    member: str
    hostname: str
    machine: TalosMachine


@record
class Rejoin(TalosChange):
    """A controller that was taken out of etcd joins anew."""

    machine: TalosMachine
    boot_id: str
    """The boot that it is in."""


@record
class ClientFileChange(TalosChange):
    """A file for clients is written or renewed."""

    action: WriteClientFile


def changes(wish: TalosWish, observed: ObservedTalos) -> tuple[TalosChange, ...]:
    """All changes, in the order of what is done first; nodes that speak against it have none."""
    refused = refused_nodes(wish, observed)
    found: list[TalosChange] = [*_going(wish, observed)]
    for node in (*wish.controllers, *(one for one in wish.desired.nodes if not one.is_controller)):
        if str(node.name) in refused:
            continue
        if outside := _rejoin(wish, observed, node):
            # It boots for that: what it would boot for otherwise is left to the next plan.
            found.append(outside)
        else:
            found += _of_node(wish, observed, node)
    found += _beginning(wish, observed, refused)
    found += _coming_up(wish, observed)
    found += _files(wish, observed)
    return tuple(found)


def touched(observed: ObservedTalos) -> Mapping[str, str]:
    """Digests of what actions touch, as it was seen, by identity; not of what nobody saw."""
    machines = {
        f"machine/{name}": digest(
            [seen.standing.value, str(seen.uuid), seen.digest, seen.authority, seen.version]
        )
        for name, seen in observed.machines.items()
        if seen.standing not in _UNSEEN
    }
    members = sorted((one.hex, one.hostname, one.is_learner) for one in observed.etcd.members)
    files = {
        f"file/{name}": digest([name, None if lack is None else not lack])
        for name, lack in observed.client_files.items()
    }
    return {**machines, **files, "etcd": digest([members])}


def _of_node(wish: TalosWish, observed: ObservedTalos, node: Node) -> Iterator[TalosChange]:
    name = str(node.name)
    seen = observed.machine(name)
    if name in wish.fresh:
        yield _join(wish, node, "its VM is made by this plan")
    elif seen is not None and seen.standing is Standing.MAINTENANCE:
        yield _join(wish, node, "it waits for its configuration")
    elif _is_awaited(wish, observed, name):
        yield _join(wish, node, "its VM was started, it does not answer yet, and nobody knows it")
    elif seen is not None and seen.is_configured:
        yield from _drift(wish, node, seen)


def _is_awaited(wish: TalosWish, observed: ObservedTalos, name: str) -> bool:
    """Whether a machine is on its way up that may have no configuration yet."""
    seen = observed.machine(name)
    is_silent = seen is not None and seen.standing in _UNSEEN
    return is_silent and name in wish.rising and observed.etcd.member_of(name) is None


def _rejoin(wish: TalosWish, observed: ObservedTalos, node: Node) -> Rejoin | None:
    """The way back of a controller that was taken out of etcd. None: it is in it, or on its way."""
    name = str(node.name)
    seen = observed.machine(name)
    if seen is None or seen.boot_id is None or not was_taken_out(wish, observed, name):
        return None
    return Rejoin(
        what=f"{name} joins etcd anew, with a reboot",
        why="it was taken out of etcd, which never lets the data of such a member in again",
        mark=Mark.CHANGE,
        node=name,
        destroys=lost_with(name),
        machine=machine_of(node),
        boot_id=seen.boot_id,
    )


def _join(wish: TalosWish, node: Node, why: str) -> Join:
    text = wish.configurations[str(node.name)]
    installs = wish.cluster.talos.platform == "metal"
    role = "controller" if node.is_controller else "worker"
    return Join(
        what=f"{node.name} gets its first configuration, as a {role}",
        why=why,
        mark=Mark.ADD,
        node=str(node.name),
        machine=machine_of(node),
        digest=configuration_values(text, wish.minor).digest,
        is_controller=node.is_controller,
        installs=installs,
        version=wish.cluster.talos.version.tagged if node.vm is not None else "",
    )


def _drift(wish: TalosWish, node: Node, seen: ObservedMachine) -> Iterator[Reconfigure]:
    before, after = compared(wish, node, seen)
    if before is None or after is None or seen.version is None:
        return
    paths = differing(before, after)
    if not paths:
        return
    version = Version.parse(seen.version)
    boots = boots_for(paths, version)
    differ = "differs" if len(paths) == 1 else "differ"
    if boots:
        how = f"staged and with a reboot, because Talos {version.minor_text} boots for"
        why = f"{_named(paths)} {differ}; {how} {_named(boots)}"
    else:
        why = f"{_named(paths)} {differ}; Talos {version.minor_text} takes that on while it runs"
    if boots and seen.boot_id is None:
        return
    yield Reconfigure(
        what=f"{node.name} gets another configuration" + (", with a reboot" if boots else ""),
        why=why,
        mark=Mark.CHANGE,
        node=str(node.name),
        machine=machine_of(node),
        before=before.digest,
        digest=after.digest,
        is_controller=node.is_controller,
        boot_id=(seen.boot_id or "") if boots else "",
    )


def _going(wish: TalosWish, observed: ObservedTalos) -> Iterator[TalosChange]:
    """Machines that leave for good, and those whose VMs are made anew."""
    again = {
        str(node.name): machine_of(node)
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
            yield Leave(
                what=f"{name} leaves the cluster and is reset",
                why=why,
                mark=Mark.REMOVE,
                node=name,
                destroys=f"what {name} keeps on its system disk",
                machine=bound,
                member=id_,
            )
        elif member is not None:
            yield RemoveDead(
                what=f"etcd loses its dead member {id_} ({name})",
                why=f"{why}, and the machine does not answer",
                mark=Mark.REMOVE,
                node=name,
                destroys=f"etcd member {id_} ({name})",
                member=id_,
                hostname=name,
                machine=machine,
            )


def _beginning(
    wish: TalosWish, observed: ObservedTalos, refused: frozenset[str]
) -> Iterator[BeginEtcd]:
    """etcd begins where every controller is known, or made by this plan, and none has data."""
    if not wish.controllers or observed.etcd.begun or observed.etcd.members:
        return
    for node in wish.controllers:
        name = str(node.name)
        known = _is_known(observed, name)
        made = name in wish.fresh or _is_awaited(wish, observed, name)
        if name in refused or not (known or made):
            return
    first = machine_of(wish.controllers[0])
    yield BeginEtcd(
        what=f"etcd begins on {first.node}",
        why="no controller has data of an etcd",
        mark=Mark.ADD,
        node=first.node,
        machine=first,
    )


def etcd_waits_for(
    wish: TalosWish, observed: ObservedTalos, found: Iterable[TalosChange]
) -> tuple[str, ...]:
    """Controllers that etcd cannot begin without, each with what is known of it.

    Empty: it begins, it has begun, or nobody wants one. Until then nothing that needs it is done.
    """
    if observed.etcd.begun or observed.etcd.members:
        return ()
    if any(isinstance(one, BeginEtcd) for one in found):
        return ()
    joins = {one.node for one in found if isinstance(one, Join)}
    return tuple(
        f"{node.name} ({node.address.ip}): {_told(observed.machine(str(node.name)))}"
        for node in wish.controllers
        if str(node.name) not in joins and not _is_known(observed, str(node.name))
    )


def _told(seen: ObservedMachine | None) -> str:
    return (seen.why if seen is not None else "") or "no answer"


def _is_known(observed: ObservedTalos, name: str) -> bool:
    seen = observed.machine(name)
    return seen is not None and seen.standing in (Standing.CONFIGURED, Standing.MAINTENANCE)


def _coming_up(wish: TalosWish, observed: ObservedTalos) -> Iterator[EtcdComesUp]:
    """etcd was begun by a run that did not see it come up."""
    begun = observed.etcd.begun or observed.etcd.members
    names = {str(node.name) for node in wish.controllers}
    if begun and not wish.api_answers and names <= wish.rising:
        yield EtcdComesUp(
            what="etcd and the Kubernetes API come up",
            why="etcd has begun, its machines were started a moment ago, and no API answers yet",
            mark=Mark.CHANGE,
        )


def _files(wish: TalosWish, observed: ObservedTalos) -> Iterator[ClientFileChange]:
    for action in wish.client_files:
        if lack := observed.client_files.get(action.file):
            yield ClientFileChange(
                what=f"{action.file} of {action.cluster} is written",
                why=lack,
                mark=Mark.CHANGE,
                action=action,
            )


def _named(paths: tuple[str, ...]) -> str:
    shown = ", ".join(paths[:_MOST])
    return f"{shown} and {len(paths) - _MOST} more" if len(paths) > _MOST else shown
