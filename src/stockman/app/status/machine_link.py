"""The second link of a node: the machine that answers at its address."""

from __future__ import annotations

from collections.abc import Iterator

from stockman.app.status import machine_problems as say
from stockman.app.status.finding import Finding, unknown, warning
from stockman.app.status.health import Health, worst
from stockman.app.status.node import MachineLink
from stockman.app.status.seen import Seen
from stockman.model.desired import Node
from stockman.model.version import Version
from stockman.planning.observed_talos import ObservedMachine
from stockman.ports.talos.machines import MachineStatus
from stockman.steps.talos_gates import ALLOWED_SKEW
from stockman.steps.talos_machine import Standing

Judged = tuple[MachineLink, tuple[Finding, ...]]
_NODE_READY = "nodeReady"
_AGAIN = "look again with `stockman status`"


def judged_machine(node: Node, seen: Seen) -> Judged:
    """The machine of a node, and what is wrong with it."""
    found = seen.talos.machine(str(node.name)) if seen.talos is not None else None
    if found is None:
        return MachineLink(health=Health.UNKNOWN, seen="not known"), ()
    if found.is_configured:
        return _configured(node, seen, found)
    name, address = str(node.name), str(found.address)
    match found.standing:
        case Standing.MAINTENANCE:
            problem, text = say.maintenance(name, address), "maintenance"
        case Standing.FOREIGN:
            problem, text = say.foreign(name, address, found.why), "another cluster"
        case Standing.BOOTING:
            problem, text = say.booting(name, address, found.why), "booting"
        case _:
            problem, text = say.silent(name, address, found.why), "no answer"
    link = MachineLink(health=Health.ERROR, seen=text, version=found.version or "", uuid=found.uuid)
    return link, (Finding(subject=name, problem=problem),)


def _configured(node: Node, seen: Seen, found: ObservedMachine) -> Judged:
    wanted = node.vm.uuid if node.vm is not None else None
    same = None if found.uuid is None or wanted is None else found.uuid == wanted
    findings = tuple(_wrong(node, seen, found, same))
    link = MachineLink(
        health=worst(one.health for one in findings),
        seen=found.status.stage if found.status is not None else "stage not known",
        version=found.version or "",
        uuid=found.uuid,
        macs=tuple(str(one) for one in found.macs or ()),
        same=same,
        skew=found.skew,
        answers=same is not False,
    )
    return link, findings


def _wrong(node: Node, seen: Seen, found: ObservedMachine, same: bool | None) -> Iterator[Finding]:
    name = str(node.name)
    if same is False and node.vm is not None:
        problem = say.identity(name, str(found.address), str(found.uuid), str(node.vm.uuid))
        yield Finding(subject=name, problem=problem)
        return
    if same is None and node.vm is not None:
        why = found.unknown.get("uuid", "it did not tell its UUID")
        yield unknown(f"the identity of {name}", why, _AGAIN)
    if found.macs is not None and node.mac_addr.lower() not in map(str.lower, found.macs):
        cards = ", ".join(str(one) for one in found.macs) or "none"
        problem = say.card(name, str(found.address), cards, str(node.mac_addr))
        yield Finding(subject=name, problem=warning(problem))
    if found.status is None:
        yield unknown(f"the stage of {name}", found.unknown.get("status", "not told"), _AGAIN)
    elif not found.status.is_up:
        yield from _not_up(name, found.status, seen)
    if found.skew is not None and abs(found.skew) > ALLOWED_SKEW:
        problem = say.clock(name, found.skew, ALLOWED_SKEW, found.time_server)
        yield Finding(subject=name, problem=problem)
    elif found.skew is None:
        why = found.unknown.get("clock", "it did not tell")
        yield unknown(f"the clock of {name}", why, _AGAIN, is_error=False)
    cluster = seen.desired.cluster
    if cluster is None or found.version is None:
        return
    if Version.parse(found.version) != cluster.talos.version:
        problem = say.version(name, "Talos", found.version, cluster.talos.version.tagged)
        yield Finding(subject=name, problem=warning(problem))


def _not_up(name: str, status: MachineStatus, seen: Seen) -> Iterator[Finding]:
    """What a machine lacks; that its Node is not ready is told where Kubernetes is asked."""
    lacks = [one for one in status.unmet if one.name != _NODE_READY or seen.kubernetes is None]
    if lacks or not status.unmet:
        unmet = "; ".join(f"{one.name}: {one.reason}" for one in lacks)
        yield Finding(
            subject=name, problem=say.not_ready(name, seen.address_of(name), status.stage, unmet)
        )
