"""Talos machines: configurations, versions and who they are."""

from __future__ import annotations

from collections.abc import Iterator

from stockman.app.drift.finding import Author, Correction, Drift, DriftSeverity, Gap, Value
from stockman.app.drift.layer import Layer
from stockman.model.desired import Desired, Node
from stockman.model.problem import Problem
from stockman.model.record import record
from stockman.model.secret import MASK
from stockman.planning.observed_talos import ObservedMachine, ObservedTalos
from stockman.planning.talos_outside import outside_etcd
from stockman.planning.talos_refusals import KUBERNETES_IMAGES, compared, refusals
from stockman.planning.talos_wish import TalosWish
from stockman.steps import talos_problems as say
from stockman.steps.talos_machine import Standing
from stockman.talos.machine.values import ConfigurationValues, differing

UPGRADE = "node.upgrade"
_UNTOLD = Author(how="Talos does not tell who applied a configuration")
_SILENT = (Standing.SILENT, Standing.BOOTING)
_LONGEST = 80


@record
class TalosSide:
    """What should be on machines, and what is."""

    wish: TalosWish
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
            yield from _configured(side, node, seen)
    yield from _outside(side)
    yield from _refused(side)


def _outside(side: TalosSide) -> Iterator[Drift]:
    for name in outside_etcd(side.wish, side.seen):
        yield Drift(
            layer=Layer.TALOS,
            subject=name,
            what=f"{name} is no member of etcd",
            why="it is a controller, and the other members do not have it in their list",
            values=(Value(key="etcd", found=None, wanted="member"),),
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
        if seen.standing in _SILENT:
            why = seen.why or "no answer"
            yield _gap(name, say.not_reached(name, seen.address, why))
        elif seen.is_configured and None in compared(side.wish, node, seen):
            why = seen.unknown.get("configuration") or seen.unknown.get("digest") or "it is unread"
            yield _gap(name, say.not_reached(name, seen.address, why))


def _gap(name: str, problem: Problem) -> Gap:
    return Gap(layer=Layer.TALOS, subject=name, problem=problem)


def _configured(side: TalosSide, node: Node, seen: ObservedMachine) -> Iterator[Drift]:
    before, after = compared(side.wish, node, seen)
    if before is None or after is None or before.authority != after.authority:
        return
    paths = [one for one in differing(before, after) if not _is_of_tuppr(side.desired, one)]
    if not paths:
        return
    name = str(node.name)
    yield Drift(
        layer=Layer.TALOS,
        subject=name,
        what=f"the configuration of {name} differs",
        values=tuple(_value(path, before, after) for path in paths),
        author=_UNTOLD,
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


def _value(path: str, before: ConfigurationValues, after: ConfigurationValues) -> Value:
    """Both sides; a value that one of them masks is masked on both."""
    found, wanted = before.shown.get(path), after.shown.get(path)
    if MASK in (found, wanted):
        return Value(
            key=path,
            found=MASK if path in before.values else None,
            wanted=MASK if path in after.values else None,
        )
    return Value(key=path, found=_text(found), wanted=_text(wanted))


def _text(value: object) -> str | None:
    if value is None:
        return None
    line = " ".join(str(value).split())
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}..."


def _refused(side: TalosSide) -> Iterator[Drift]:
    """What plans do not change: versions, roles, names, and machines of others."""
    own = side.desired.upgrade.engine == "stockman"
    for problem in refusals(side.wish, side.seen):
        if problem.code not in _JUDGED or (problem.code == UPGRADE and not own):
            continue
        subject = str(problem.where).partition(" ")[0]
        yield Drift(
            layer=Layer.TALOS,
            subject=subject,
            what=problem.what,
            why=problem.why,
            author=_UNTOLD,
            severity=_JUDGED[problem.code],
            correction=Correction(command=problem.fix),
        )


_JUDGED = {
    UPGRADE: DriftSeverity.WARNING,
    "node.identity": DriftSeverity.CRITICAL,
    "node.other-cluster": DriftSeverity.CRITICAL,
    "node.renamed": DriftSeverity.WARNING,
    "node.role": DriftSeverity.CRITICAL,
    "etcd.split": DriftSeverity.CRITICAL,
    "etcd.unknown-member": DriftSeverity.CRITICAL,
}
