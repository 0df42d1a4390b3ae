"""Drift of Talos machines: configuration, version and identity."""

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
from stockman.talos.machine.masking import ConfigurationValues, changed_paths

UPGRADE = "node.upgrade"
_UNKNOWN_AUTHOR = Author(how="Talos does not tell who applied a configuration")
_NOT_ANSWERING = (MachineState.SILENT, MachineState.BOOTING)
_LONGEST = 80


@record
class TalosSide:
    """Desired and observed state of the machines."""

    desired_talos: DesiredTalos
    observed: ObservedTalos
    idle: frozenset[str] = frozenset()
    """Nodes that cannot answer because their VM does not run."""

    @property
    def desired(self) -> Desired:
        return self.desired_talos.desired


def machine_drifts(side: TalosSide) -> Iterator[Drift]:
    """Return machines whose configuration, version or identity differs."""
    for node in side.desired.nodes:
        machine = side.observed.machine(str(node.name))
        if machine is not None and machine.is_configured:
            yield from _configuration_drifts(side, node, machine)
    yield from _outside(side)
    yield from _drifts_without_plan(side)


def _outside(side: TalosSide) -> Iterator[Drift]:
    for name in find_controllers_outside_etcd(side.desired_talos, side.observed):
        yield Drift(
            layer=Layer.TALOS,
            subject=name,
            description=f"{name} is not an etcd member",
            why="it is a controller, but the other members do not list it",
            values=(DriftValue(key="etcd", observed=None, desired="member"),),
            author=Author(how="etcd does not tell who took it out"),
            severity=DriftSeverity.CRITICAL,
            correction=Correction(command="stockman status --wait"),
            claims=(f"talos/rejoin/{name}", f"nodes/drain/{name}", f"nodes/back/{name}"),
        )


def machine_gaps(side: TalosSide) -> Iterator[Gap]:
    """Return machines that do not answer or whose configuration cannot be read."""
    for node in side.desired.nodes:
        name = str(node.name)
        machine = side.observed.machine(name)
        if machine is None or name in side.idle:
            continue
        if machine.standing in _NOT_ANSWERING:
            why = machine.why or "no answer"
            yield _gap(name, say.machine_unreachable(name, machine.address, why))
        elif machine.is_configured and None in parse_both_configs(
            side.desired_talos, node, machine
        ):
            why = (
                machine.unknown.get("configuration")
                or machine.unknown.get("digest")
                or "it is unread"
            )
            yield _gap(name, say.machine_unreachable(name, machine.address, why))


def _gap(name: str, problem: Problem) -> Gap:
    return Gap(layer=Layer.TALOS, subject=name, problem=problem)


def _configuration_drifts(
    side: TalosSide, node: Node, observed: ObservedMachine
) -> Iterator[Drift]:
    before, after = parse_both_configs(side.desired_talos, node, observed)
    if before is None or after is None or before.authority != after.authority:
        return
    paths = [path for path in changed_paths(before, after) if not _is_of_tuppr(side.desired, path)]
    if not paths:
        return
    name = str(node.name)
    yield Drift(
        layer=Layer.TALOS,
        subject=name,
        description=f"the configuration of {name} differs",
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
    """Whether tuppr manages this key, which it uses to upgrade Kubernetes."""
    return desired.upgrade.engine == "tuppr" and path in KUBERNETES_IMAGES


def _value(path: str, before: ConfigurationValues, after: ConfigurationValues) -> DriftValue:
    """Return both values; a value masked on one side is masked on both."""
    observed, desired = before.shown.get(path), after.shown.get(path)
    if MASK in (observed, desired):
        return DriftValue(
            key=path,
            observed=MASK if path in before.values else None,
            desired=MASK if path in after.values else None,
        )
    return DriftValue(key=path, observed=_text(observed), desired=_text(desired))


def _text(value: object) -> str | None:
    if value is None:
        return None
    line = " ".join(str(value).split())
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}..."


def _drifts_without_plan(side: TalosSide) -> Iterator[Drift]:
    """Return drift that no plan corrects: versions, roles, names, foreign machines."""
    own = side.desired.upgrade.engine == "stockman"
    for problem in find_refusals(side.desired_talos, side.observed):
        if problem.code not in _SEVERITIES or (problem.code == UPGRADE and not own):
            continue
        subject = str(problem.where).partition(" ")[0]
        yield Drift(
            layer=Layer.TALOS,
            subject=subject,
            description=problem.what,
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
