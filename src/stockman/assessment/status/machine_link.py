"""Second link of a node: the machine that answers at its address."""

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


def assess_machine(node: Node, state: StatusInput) -> MachineResult:
    """Return the machine of a node and its problems."""
    observed = state.talos.machine(str(node.name)) if state.talos is not None else None
    if observed is None:
        return MachineLink(health=Health.UNKNOWN, summary="not known"), ()
    if observed.is_configured:
        return _configuration_findings(node, state, observed)
    name, address = str(node.name), str(observed.address)
    match observed.standing:
        case MachineState.MAINTENANCE:
            problem, text = say.in_maintenance(name, address), "maintenance"
        case MachineState.FOREIGN:
            problem, text = say.foreign_machine(name, address, observed.why), "another cluster"
        case MachineState.BOOTING:
            problem, text = say.machine_booting(name, address, observed.why), "booting"
        case _:
            problem, text = say.machine_silent(name, address, observed.why), "no answer"
    link = MachineLink(
        health=Health.ERROR, summary=text, version=observed.version or "", uuid=observed.uuid
    )
    return link, (StatusFinding(subject=name, problem=problem),)


def _configuration_findings(
    node: Node, state: StatusInput, observed: ObservedMachine
) -> MachineResult:
    desired = node.vm.uuid if node.vm is not None else None
    same = None if observed.uuid is None or desired is None else observed.uuid == desired
    findings = tuple(_identity_findings(node, state, observed, same))
    link = MachineLink(
        health=worst_health(finding.health for finding in findings),
        summary=observed.status.stage if observed.status is not None else "stage not known",
        version=observed.version or "",
        uuid=observed.uuid,
        macs=tuple(str(mac) for mac in observed.macs or ()),
        same=same,
        skew=observed.skew,
        answers=same is not False,
    )
    return link, findings


def _identity_findings(
    node: Node, state: StatusInput, observed: ObservedMachine, same: bool | None
) -> Iterator[StatusFinding]:
    name = str(node.name)
    if same is False and node.vm is not None:
        problem = say.wrong_uuid(name, str(observed.address), str(observed.uuid), str(node.vm.uuid))
        yield StatusFinding(subject=name, problem=problem)
        return
    if same is None and node.vm is not None:
        why = observed.unknown.get("uuid", "it did not tell its UUID")
        yield unknown_finding(f"the identity of {name}", why, _AGAIN)
    if observed.macs is not None and node.mac_addr.lower() not in map(str.lower, observed.macs):
        cards = ", ".join(str(mac) for mac in observed.macs) or "none"
        problem = say.wrong_card(name, str(observed.address), cards, str(node.mac_addr))
        yield StatusFinding(subject=name, problem=as_warning(problem))
    if observed.status is None:
        yield unknown_finding(
            f"the stage of {name}", observed.unknown.get("status", "not told"), _AGAIN
        )
    elif not observed.status.is_up:
        yield from _not_ready(name, observed.status, state)
    if observed.skew is not None and abs(observed.skew) > ALLOWED_SKEW:
        problem = say.clock_skew(name, observed.skew, ALLOWED_SKEW, observed.time_server)
        yield StatusFinding(subject=name, problem=problem)
    elif observed.skew is None:
        why = observed.unknown.get("clock", "it did not tell")
        yield unknown_finding(f"the clock of {name}", why, _AGAIN, is_error=False)
    cluster = state.desired.cluster
    if cluster is None or observed.version is None:
        return
    if Version.parse(observed.version) != cluster.talos.version:
        problem = say.wrong_version(name, "Talos", observed.version, cluster.talos.version.tagged)
        yield StatusFinding(subject=name, problem=as_warning(problem))


def _not_ready(name: str, status: MachineStatus, state: StatusInput) -> Iterator[StatusFinding]:
    """Report unmet conditions of a machine, except the readiness of its node."""
    lacks = [
        condition
        for condition in status.unmet
        if condition.name != _NODE_READY or state.kubernetes is None
    ]
    if lacks or not status.unmet:
        unmet = "; ".join(f"{condition.name}: {condition.reason}" for condition in lacks)
        yield StatusFinding(
            subject=name,
            problem=say.machine_not_ready(name, state.address_of(name), status.stage, unmet),
        )
