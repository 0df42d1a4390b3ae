"""The machines of a cluster in a plan: what is asked of them, and what differs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from stockman.model.desired import Desired
from stockman.model.problem import Problems
from stockman.planning import composition_problems as say
from stockman.planning import talos_changes
from stockman.planning.observed import Observed
from stockman.planning.talos_changes import TalosChange, etcd_waits_for
from stockman.planning.talos_refusals import refusals
from stockman.planning.talos_wish import TalosWish
from stockman.planning.wishes import Wishes
from stockman.ports.proxmox.cluster import GuestSeen
from stockman.steps.step import Step

_BOOTS = 1200.0
"""Seconds that machines take at most from the start of their VMs until they answer."""


def machine_stage(
    wishes: Wishes, seen: Observed, vms: Mapping[str, Step], problems: Problems
) -> tuple[TalosWish | None, tuple[TalosChange, ...]]:
    """What is asked of the machines, and what of it is not so; steps of their VMs are given.

    No wish: there are no machines, or nobody looked at them.
    """
    desired = wishes.desired
    if desired.cluster is None or not seen.beyond_proxmox:
        return None, ()
    if seen.talos is None:
        problems.add(say.no_look_at_machines())
        return None, ()
    names = tuple(str(node.name) for node in desired.nodes)
    wish = TalosWish(
        desired=desired,
        configurations=wishes.configurations,
        fresh=frozenset(name for name in names if f"vms/create/{name}" in vms),
        leaving={
            name: address for name, address in seen.leaving.items() if f"vms/destroy/{name}" in vms
        },
        rising=frozenset(_rising(desired, seen, vms)),
        api_answers=seen.api_answers,
        client_files=wishes.client_files,
        needs={name: _made(name, vms) for name in names},
    )
    stopped = bool(problems.errors)
    for problem in refusals(wish, seen.talos):
        if problem.is_error or not stopped:
            problems.add(problem)
    return wish, talos_changes.changes(wish, seen.talos)


def _rising(desired: Desired, seen: Observed, vms: Mapping[str, Step]) -> Iterator[str]:
    """Nodes whose VMs are started by this plan, or were a moment ago."""
    for node in desired.nodes:
        if node.vm is None or seen.node(str(node.name)) is not None:
            continue
        proxmox = seen.proxmox.get(str(node.vm.region))
        guest = proxmox.guest(node.vm.vmid) if proxmox is not None else None
        if f"vms/start/{node.name}" in vms or (guest is not None and _is_young(guest)):
            yield str(node.name)


def _made(node: str, vms: Mapping[str, Step]) -> tuple[str, ...]:
    """The last step of its VM before a machine can be talked to."""
    start = f"vms/start/{node}"
    if start in vms:
        return (start,)
    return tuple(step.id for step in vms.values() if step.node == node)


def etcd_waits(
    wish: TalosWish | None, machines: tuple[TalosChange, ...], seen: Observed, problems: Problems
) -> bool:
    """Whether etcd cannot begin, so that nothing after it can be done."""
    if wish is None or seen.talos is None:
        return False
    missing = etcd_waits_for(wish, seen.talos, machines)
    if missing and not problems.errors:
        problems.add(say.etcd_waits(missing))
    return bool(missing)


def _is_young(guest: GuestSeen) -> bool:
    """Whether it was started so lately that nobody need worry about its silence."""
    return guest.status == "running" and guest.uptime is not None and guest.uptime < _BOOTS
