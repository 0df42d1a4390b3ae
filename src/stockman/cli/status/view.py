"""The status of a cluster for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stockman.cli.problems import problem_data
from stockman.model.record import to_plain_value

if TYPE_CHECKING:
    from stockman.assessment.status.findings import StatusCheck, StatusPart
    from stockman.assessment.status.node_links import NodeStatus
    from stockman.assessment.status.status import Status
from collections import Counter
from collections.abc import Iterable, Iterator

from stockman.cli.problems import problem_lines, problem_summary
from stockman.cli.terminal.screen import Screen
from stockman.cli.terminal.styles import Paint
from stockman.cli.terminal.tables import Cell, Row, table, wrap

if TYPE_CHECKING:
    from stockman.assessment.status.findings import Health, StatusFinding
    from stockman.assessment.status.node_links import NodeStatus
    from stockman.assessment.status.status import Status


def status_data(status: Status) -> dict[str, object]:
    """Everything that was seen and judged; problems first."""
    return {
        "cluster": status.cluster,
        "at": status.at.isoformat(),
        "healthy": status.healthy,
        "health": status.health.value,
        "problems": problems_data(status),
        "parts": [_part_data(one) for one in status.parts],
        "nodes": [_node_data(one) for one in status.nodes],
        "calls": dict(status.calls),
    }


def problems_data(status: Status) -> list[dict[str, object]]:
    """Every problem once, errors first, each with its check and what it is about."""
    checks: dict[object, StatusCheck] = {}
    for part in status.parts:
        for one in part.findings:
            checks.setdefault(one.problem, part.check)
    return [
        {
            "check": checks[one.problem].value,
            "subject": one.subject,
            "unknown": one.unknown,
            **problem_data(one.problem),
        }
        for one in status.findings
    ]


def _part_data(part: StatusPart) -> dict[str, object]:
    return {
        "check": part.check.value,
        "health": part.health.value,
        "seen": part.seen,
        "items": to_plain_value(part.items),
    }


def _node_data(node: NodeStatus) -> dict[str, object]:
    found = to_plain_value(node)
    return {"health": node.health.value, **(found if isinstance(found, dict) else {})}


STYLES = {
    "ok": "good",
    "warning": "warning",
    "unknown": "warning",
    "error": "error",
    "off": "faint",
}
_MAX_IN_FULL = 3
"""So many problems of one kind are shown in full; of more, the first is, and the others named."""
_MAX_NAMES = 12
_MAX_ALL_LISTED = 24
"""Up to so many nodes are listed even if they are well."""
_MAX_UNHEALTHY = 30
"""So many nodes that are not well are listed."""


def status_lines(status: Status, screen: Screen, *, every: bool = False) -> Iterator[str]:
    """All lines; `every` lists every node."""
    name = f"cluster {status.cluster}" if status.cluster else "Proxmox VE"
    found = [one.problem for one in status.findings]
    yield f"{name} at {status.at:%Y-%m-%d %H:%M:%S}: {problem_summary(found)}"
    yield ""
    shown = list(_problems(status.findings, screen))
    if shown:
        yield from shown
        yield ""
    yield from _part_table(status, screen)
    if status.nodes:
        yield ""
        yield from _nodes(status.nodes, screen, every=every)


def _problems(findings: Iterable[StatusFinding], screen: Screen) -> Iterator[str]:
    kinds: dict[tuple[str, bool], list[StatusFinding]] = {}
    for one in findings:
        kinds.setdefault((one.problem.code, one.problem.is_error), []).append(one)
    first = True
    for group in kinds.values():
        full = group if len(group) <= _MAX_IN_FULL else group[:1]
        for one in full:
            if not first:
                yield ""
            first = False
            yield from problem_lines([one.problem], paint=screen.paint, width=screen.width)
        if len(full) < len(group):
            yield from _more_subjects(group[1:], screen)


def _more_subjects(rest: list[StatusFinding], screen: Screen) -> Iterator[str]:
    names = list(dict.fromkeys(one.subject for one in rest))
    more = f" and {len(names) - _MAX_NAMES} more" if len(names) > _MAX_NAMES else ""
    text = f"{', '.join(names[:_MAX_NAMES])}{more}"
    label = screen.paint("  also:", "faint")
    first, *others = [text] if screen.width is None else wrap(text, screen.width - 9)
    yield f"{label}  {first}"
    yield from (f"{'':9}{one}" for one in others)


def _part_table(status: Status, screen: Screen) -> Iterator[str]:
    rows = [(part.title, _health_cell(part.health), part.seen) for part in status.parts]
    return table(("PART", "STATE", "SEEN"), rows, width=screen.width, paint=screen.paint)


def _health_cell(health: Health) -> Cell:
    return Cell(health.value, STYLES[health.value])


def _nodes(nodes: tuple[NodeStatus, ...], screen: Screen, *, every: bool) -> Iterator[str]:
    if every or len(nodes) <= _MAX_ALL_LISTED:
        yield from _table(nodes, screen)
        return
    ill = [one for one in nodes if one.health.value != "ok"]
    if ill:
        yield from _table(ill[:_MAX_UNHEALTHY], screen)
        if len(ill) > _MAX_UNHEALTHY:
            yield f"and {len(ill) - _MAX_UNHEALTHY} more that are not well; `--all` lists them"
        yield ""
    well = [one for one in nodes if one.health.value == "ok"]
    yield from _group_lines(well, screen.paint)


def _table(nodes: Iterable[NodeStatus], screen: Screen) -> Iterator[str]:
    headers = ("NODE", "STATE", "ROLE", "VM", "MACHINE", "ETCD", "KUBELET")
    rows = [_row(one) for one in nodes]
    return table(headers, rows, width=screen.width, paint=screen.paint)


def _row(node: NodeStatus) -> Row:
    vm = node.vm
    return (
        Cell(node.name, "name"),
        _health_cell(node.health),
        node.role,
        Cell(f"{vm.vmid} {vm.seen}", _style(vm.health)) if vm is not None else "not ours",
        Cell(_join_version(node.machine.version, node.machine.seen), _style(node.machine.health)),
        node.etcd,
        Cell(_join_version(node.kubelet.version, node.kubelet.seen), _style(node.kubelet.health)),
    )


def _join_version(version: str, seen: str) -> str:
    return f"{version} {seen}".strip()


def _style(health: Health) -> str:
    return "" if health.value == "ok" else STYLES[health.value]


def _group_lines(nodes: list[NodeStatus], paint: Paint) -> Iterator[str]:
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
