"""Talos machines: configurations, versions and who they are."""

from __future__ import annotations

from collections.abc import Iterator

from stockman.assessment.drift.report import (
    Author,
    Correction,
    Drift,
    DriftSeverity,
    DriftValue,
    Gap,
    Layer,
)
from stockman.model.desired import Desired, Node
from stockman.model.problem import Problem
from stockman.model.record import record
from stockman.model.secret import MASK
from stockman.planning.observed.talos import ObservedMachine, ObservedTalos
from stockman.planning.talos.desired import DesiredTalos
from stockman.planning.talos.refusals import KUBERNETES_IMAGES, find_refusals, parse_both_configs
from stockman.planning.talos.rejoin import find_controllers_outside_etcd
from stockman.steps.talos import problems as say
from stockman.steps.talos.machine import MachineState
from stockman.talos.machine.values import ConfigurationValues, changed_paths

UPGRADE = "node.upgrade"
_UNKNOWN_AUTHOR = Author(how="Talos does not tell who applied a configuration")
_NOT_ANSWERING = (MachineState.SILENT, MachineState.BOOTING)
_LONGEST = 80


@record
class TalosSide:
    """What should be on machines, and what is."""

    wish: DesiredTalos
    seen: ObservedTalos
    idle: frozenset[str] = frozenset()
    """Nodes that cannot answer, because nothing runs there."""

    @property
    def desired(self) -> Desired:
        return self.wish.desired


def machine_drifts(side: TalosSide) -> Iterator[Drift]:
    """Configurations that differ, and machines that are not what they should be."""
    for node in side.desired.nodes:
        seen = side.seen.machine(str(node.name))
        if seen is not None and seen.is_configured:
            yield from _configuration_drifts(side, node, seen)
    yield from _outside(side)
    yield from _unplanned_drifts(side)


def _outside(side: TalosSide) -> Iterator[Drift]:
    for name in find_controllers_outside_etcd(side.wish, side.seen):
        yield Drift(
            layer=Layer.TALOS,
            subject=name,
            what=f"{name} is no member of etcd",
            why="it is a controller, and the other members do not have it in their list",
            values=(DriftValue(key="etcd", found=None, wanted="member"),),
            author=Author(how="etcd does not tell who took it out"),
            severity=DriftSeverity.CRITICAL,
            correction=Correction(command="stockman status --wait"),
            claims=(f"talos/rejoin/{name}", f"nodes/drain/{name}", f"nodes/back/{name}"),
        )


def machine_gaps(side: TalosSide) -> Iterator[Gap]:
    """Machines that do not answer, or do not tell their configuration."""
    for node in side.desired.nodes:
        name = str(node.name)
        seen = side.seen.machine(name)
        if seen is None or name in side.idle:
            continue
        if seen.standing in _NOT_ANSWERING:
            why = seen.why or "no answer"
            yield _gap(name, say.machine_unreachable(name, seen.address, why))
        elif seen.is_configured and None in parse_both_configs(side.wish, node, seen):
            why = seen.unknown.get("configuration") or seen.unknown.get("digest") or "it is unread"
            yield _gap(name, say.machine_unreachable(name, seen.address, why))


def _gap(name: str, problem: Problem) -> Gap:
    return Gap(layer=Layer.TALOS, subject=name, problem=problem)


def _configuration_drifts(side: TalosSide, node: Node, seen: ObservedMachine) -> Iterator[Drift]:
    before, after = parse_both_configs(side.wish, node, seen)
    if before is None or after is None or before.authority != after.authority:
        return
    paths = [one for one in changed_paths(before, after) if not _is_of_tuppr(side.desired, one)]
    if not paths:
        return
    name = str(node.name)
    yield Drift(
        layer=Layer.TALOS,
        subject=name,
        what=f"the configuration of {name} differs",
        values=tuple(_value(path, before, after) for path in paths),
        author=_UNKNOWN_AUTHOR,
        correction=Correction(
            command=f"stockman config machine {name} shows what it should be; the plan says what is"
            " in the way"
        ),
        claims=(
            f"talos/change/{name}",
            f"talos/reboot-into/{name}",
            f"nodes/drain/{name}",
            f"nodes/back/{name}",
        ),
    )


def _is_of_tuppr(desired: Desired, path: str) -> bool:
    """Whether tuppr changes it, which upgrades Kubernetes by these keys."""
    return desired.upgrade.engine == "tuppr" and path in KUBERNETES_IMAGES


def _value(path: str, before: ConfigurationValues, after: ConfigurationValues) -> DriftValue:
    """Both sides; a value that one of them masks is masked on both."""
    found, wanted = before.shown.get(path), after.shown.get(path)
    if MASK in (found, wanted):
        return DriftValue(
            key=path,
            found=MASK if path in before.values else None,
            wanted=MASK if path in after.values else None,
        )
    return DriftValue(key=path, found=_text(found), wanted=_text(wanted))


def _text(value: object) -> str | None:
    if value is None:
        return None
    line = " ".join(str(value).split())
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}..."


def _unplanned_drifts(side: TalosSide) -> Iterator[Drift]:
    """What plans do not change: versions, roles, names, and machines of others."""
    own = side.desired.upgrade.engine == "stockman"
    for problem in find_refusals(side.wish, side.seen):
        if problem.code not in _SEVERITIES or (problem.code == UPGRADE and not own):
            continue
        subject = str(problem.where).partition(" ")[0]
        yield Drift(
            layer=Layer.TALOS,
            subject=subject,
            what=problem.what,
            why=problem.why,
            author=_UNKNOWN_AUTHOR,
            severity=_SEVERITIES[problem.code],
            correction=Correction(command=problem.fix),
        )


_SEVERITIES = {
    UPGRADE: DriftSeverity.WARNING,
    "node.identity": DriftSeverity.CRITICAL,
    "node.other-cluster": DriftSeverity.CRITICAL,
    "node.renamed": DriftSeverity.WARNING,
    "node.role": DriftSeverity.CRITICAL,
    "etcd.split": DriftSeverity.CRITICAL,
    "etcd.unknown-member": DriftSeverity.CRITICAL,
}
