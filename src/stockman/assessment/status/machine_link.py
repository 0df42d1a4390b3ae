"""The second link of a node: the machine that answers at its address."""

from __future__ import annotations

from collections.abc import Iterator

from stockman.assessment.status import machine_problems as say
from stockman.assessment.status.findings import (
    Health,
    StatusFinding,
    as_warning,
    unknown_finding,
    worst_health,
)
from stockman.assessment.status.node_links import MachineLink
from stockman.assessment.status.observed import StatusInput
from stockman.model.desired import Node
from stockman.model.version import Version
from stockman.planning.observed.talos import ObservedMachine
from stockman.steps.talos.gates import ALLOWED_SKEW
from stockman.steps.talos.machine import MachineState
from stockman.talos.records.machines import MachineStatus

MachineResult = tuple[MachineLink, tuple[StatusFinding, ...]]
_NODE_READY = "nodeReady"
_AGAIN = "look again with `stockman status`"


def assess_machine(node: Node, seen: StatusInput) -> MachineResult:
    """The machine of a node, and what is wrong with it."""
    found = seen.talos.machine(str(node.name)) if seen.talos is not None else None
    if found is None:
        return MachineLink(health=Health.UNKNOWN, seen="not known"), ()
    if found.is_configured:
        return _configuration_findings(node, seen, found)
    name, address = str(node.name), str(found.address)
    match found.standing:
        case MachineState.MAINTENANCE:
            problem, text = say.in_maintenance(name, address), "maintenance"
        case MachineState.FOREIGN:
            problem, text = say.foreign_machine(name, address, found.why), "another cluster"
        case MachineState.BOOTING:
            problem, text = say.machine_booting(name, address, found.why), "booting"
        case _:
            problem, text = say.machine_silent(name, address, found.why), "no answer"
    link = MachineLink(health=Health.ERROR, seen=text, version=found.version or "", uuid=found.uuid)
    return link, (StatusFinding(subject=name, problem=problem),)


def _configuration_findings(node: Node, seen: StatusInput, found: ObservedMachine) -> MachineResult:
    wanted = node.vm.uuid if node.vm is not None else None
    same = None if found.uuid is None or wanted is None else found.uuid == wanted
    findings = tuple(_identity_findings(node, seen, found, same))
    link = MachineLink(
        health=worst_health(one.health for one in findings),
        seen=found.status.stage if found.status is not None else "stage not known",
        version=found.version or "",
        uuid=found.uuid,
        macs=tuple(str(one) for one in found.macs or ()),
        same=same,
        skew=found.skew,
        answers=same is not False,
    )
    return link, findings


def _identity_findings(
    node: Node, seen: StatusInput, found: ObservedMachine, same: bool | None
) -> Iterator[StatusFinding]:
    name = str(node.name)
    if same is False and node.vm is not None:
        problem = say.wrong_uuid(name, str(found.address), str(found.uuid), str(node.vm.uuid))
        yield StatusFinding(subject=name, problem=problem)
        return
    if same is None and node.vm is not None:
        why = found.unknown.get("uuid", "it did not tell its UUID")
        yield unknown_finding(f"the identity of {name}", why, _AGAIN)
    if found.macs is not None and node.mac_addr.lower() not in map(str.lower, found.macs):
        cards = ", ".join(str(one) for one in found.macs) or "none"
        problem = say.wrong_card(name, str(found.address), cards, str(node.mac_addr))
        yield StatusFinding(subject=name, problem=as_warning(problem))
    if found.status is None:
        yield unknown_finding(
            f"the stage of {name}", found.unknown.get("status", "not told"), _AGAIN
        )
    elif not found.status.is_up:
        yield from _not_ready(name, found.status, seen)
    if found.skew is not None and abs(found.skew) > ALLOWED_SKEW:
        problem = say.clock_skew(name, found.skew, ALLOWED_SKEW, found.time_server)
        yield StatusFinding(subject=name, problem=problem)
    elif found.skew is None:
        why = found.unknown.get("clock", "it did not tell")
        yield unknown_finding(f"the clock of {name}", why, _AGAIN, is_error=False)
    cluster = seen.desired.cluster
    if cluster is None or found.version is None:
        return
    if Version.parse(found.version) != cluster.talos.version:
        problem = say.wrong_version(name, "Talos", found.version, cluster.talos.version.tagged)
        yield StatusFinding(subject=name, problem=as_warning(problem))


def _not_ready(name: str, status: MachineStatus, seen: StatusInput) -> Iterator[StatusFinding]:
    """What a machine lacks; that its Node is not ready is told where Kubernetes is asked."""
    lacks = [one for one in status.unmet if one.name != _NODE_READY or seen.kubernetes is None]
    if lacks or not status.unmet:
        unmet = "; ".join(f"{one.name}: {one.reason}" for one in lacks)
        yield StatusFinding(
            subject=name,
            problem=say.machine_not_ready(name, seen.address_of(name), status.stage, unmet),
        )
