"""The status of a cluster for people: problems first, then a map of everything."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from stockman.cli.paint import Paint
from stockman.cli.problems import problem_lines, summary
from stockman.cli.screen import Screen
from stockman.cli.tables import Cell, Row, table, wrapped

if TYPE_CHECKING:
    from stockman.app.status.finding import Finding
    from stockman.app.status.health import Health
    from stockman.app.status.node import NodeStatus
    from stockman.app.status.status import Status

STYLES = {
    "ok": "good",
    "warning": "warning",
    "unknown": "warning",
    "error": "error",
    "off": "faint",
}
_IN_FULL = 3
"""So many problems of one kind are shown in full; of more, the first is, and the others named."""
_NAMED = 12
_FEW = 24
"""Up to so many nodes are listed even if they are well."""
_MOST = 30
"""So many nodes that are not well are listed."""


def status_lines(status: Status, screen: Screen, *, every: bool = False) -> Iterator[str]:
    """All lines; `every` lists every node."""
    name = f"cluster {status.cluster}" if status.cluster else "Proxmox VE"
    found = [one.problem for one in status.findings]
    yield f"{name} at {status.at:%Y-%m-%d %H:%M:%S}: {summary(found)}"
    yield ""
    shown = list(_problems(status.findings, screen))
    if shown:
        yield from shown
        yield ""
    yield from _parts(status, screen)
    if status.nodes:
        yield ""
        yield from _nodes(status.nodes, screen, every=every)


def _problems(findings: Iterable[Finding], screen: Screen) -> Iterator[str]:
    kinds: dict[tuple[str, bool], list[Finding]] = {}
    for one in findings:
        kinds.setdefault((one.problem.code, one.problem.is_error), []).append(one)
    first = True
    for group in kinds.values():
        full = group if len(group) <= _IN_FULL else group[:1]
        for one in full:
            if not first:
                yield ""
            first = False
            yield from problem_lines([one.problem], paint=screen.paint, width=screen.width)
        if len(full) < len(group):
            yield from _also(group[1:], screen)


def _also(rest: list[Finding], screen: Screen) -> Iterator[str]:
    names = list(dict.fromkeys(one.subject for one in rest))
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    text = f"{', '.join(names[:_NAMED])}{more}"
    label = screen.paint("  also:", "faint")
    first, *others = [text] if screen.width is None else wrapped(text, screen.width - 9)
    yield f"{label}  {first}"
    yield from (f"{'':9}{one}" for one in others)


def _parts(status: Status, screen: Screen) -> Iterator[str]:
    rows = [(part.title, _health(part.health), part.seen) for part in status.parts]
    return table(("PART", "STATE", "SEEN"), rows, width=screen.width, paint=screen.paint)


def _health(health: Health) -> Cell:
    return Cell(health.value, STYLES[health.value])


def _nodes(nodes: tuple[NodeStatus, ...], screen: Screen, *, every: bool) -> Iterator[str]:
    if every or len(nodes) <= _FEW:
        yield from _table(nodes, screen)
        return
    ill = [one for one in nodes if one.health.value != "ok"]
    if ill:
        yield from _table(ill[:_MOST], screen)
        if len(ill) > _MOST:
            yield f"and {len(ill) - _MOST} more that are not well; `--all` lists them"
        yield ""
    well = [one for one in nodes if one.health.value == "ok"]
    yield from _grouped(well, screen.paint)


def _table(nodes: Iterable[NodeStatus], screen: Screen) -> Iterator[str]:
    headers = ("NODE", "STATE", "ROLE", "VM", "MACHINE", "ETCD", "KUBELET")
    rows = [_row(one) for one in nodes]
    return table(headers, rows, width=screen.width, paint=screen.paint)


def _row(node: NodeStatus) -> Row:
    vm = node.vm
    return (
        Cell(node.name, "name"),
        _health(node.health),
        node.role,
        Cell(f"{vm.vmid} {vm.seen}", _style(vm.health)) if vm is not None else "not ours",
        Cell(_joined(node.machine.version, node.machine.seen), _style(node.machine.health)),
        node.etcd,
        Cell(_joined(node.kubelet.version, node.kubelet.seen), _style(node.kubelet.health)),
    )


def _joined(version: str, seen: str) -> str:
    return f"{version} {seen}".strip()


def _style(health: Health) -> str:
    return "" if health.value == "ok" else STYLES[health.value]


def _grouped(nodes: list[NodeStatus], paint: Paint) -> Iterator[str]:
    """Nodes that are well, counted by what they have in common."""
    groups = Counter((one.role, one.machine.version, one.kubelet.version) for one in nodes)
    hosts: dict[tuple[str, str, str], set[str]] = {}
    for one in nodes:
        key = (one.role, one.machine.version, one.kubelet.version)
        if one.vm is not None:
            hosts.setdefault(key, set()).add(one.vm.host)
    for key, count in groups.most_common():
        role, talos, kubelet = key
        on = len(hosts.get(key, ()))
        where = f" on {on} {'host' if on == 1 else 'hosts'}" if on else ""
        noun = role if count == 1 else f"{role}s"
        yield f"{paint('ok', 'good')} {count} {noun}{where}: Talos {talos}, kubelet {kubelet}"
