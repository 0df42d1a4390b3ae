"""Show the status of a cluster as text or data: problems first, then parts and nodes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import timedelta

from stockman.assessment.status.findings import Health, StatusCheck, StatusFinding, StatusPart
from stockman.assessment.status.node_links import NodeStatus
from stockman.assessment.status.status import Status
from stockman.cli.live.frame import LiveArea
from stockman.cli.problems import problem_data, problem_lines, problem_summary
from stockman.cli.terminal.screen import Screen
from stockman.cli.terminal.styles import Paint, display_width, escape_control, format_duration
from stockman.cli.terminal.tables import Cell, Row, table, wrap
from stockman.model.record import to_plain_value


def status_data(status: Status) -> dict[str, object]:
    """Return the status as data; problems first."""
    return {
        "cluster": status.cluster,
        "at": status.at.isoformat(),
        "healthy": status.healthy,
        "health": status.health.value,
        "problems": problems_data(status),
        "parts": [_part_data(section) for section in status.parts],
        "nodes": [_node_data(node) for node in status.nodes],
        "calls": dict(status.calls),
    }


def problems_data(status: Status) -> list[dict[str, object]]:
    """Return each problem once, errors first, with its check and subject."""
    checks: dict[object, StatusCheck] = {}
    for section in status.parts:
        for finding in section.findings:
            checks.setdefault(finding.problem, section.check)
    return [
        {
            "check": checks[finding.problem].value,
            "subject": finding.subject,
            "unknown": finding.unknown,
            **problem_data(finding.problem),
        }
        for finding in status.findings
    ]


def _part_data(section: StatusPart) -> dict[str, object]:
    return {
        "check": section.check.value,
        "health": section.health.value,
        "summary": section.summary,
        "items": to_plain_value(section.items),
    }


def _node_data(node: NodeStatus) -> dict[str, object]:
    data = to_plain_value(node)
    return {"health": node.health.value, **(data if isinstance(data, dict) else {})}


STYLES = {
    "ok": "good",
    "warning": "warning",
    "unknown": "warning",
    "error": "error",
    "off": "faint",
}
_MAX_IN_FULL = 3
"""Maximum number of problems with the same code shown in full; of more, only the first is."""
_MAX_NAMES = 12
_MAX_ALL_LISTED = 24
"""Maximum number of nodes that are all listed."""
_MAX_UNHEALTHY = 30
"""Maximum number of unhealthy nodes that are listed."""


def status_lines(status: Status, screen: Screen, *, every: bool = False) -> Iterator[str]:
    """Return all lines; with `every`, all nodes are listed."""
    name = f"cluster {status.cluster}" if status.cluster else "Proxmox VE"
    problems = [finding.problem for finding in status.findings]
    yield f"{name} at {status.at:%Y-%m-%d %H:%M:%S}: {problem_summary(problems)}"
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
    for finding in findings:
        kinds.setdefault((finding.problem.code, finding.problem.is_error), []).append(finding)
    first = True
    for group in kinds.values():
        full = group if len(group) <= _MAX_IN_FULL else group[:1]
        for finding in full:
            if not first:
                yield ""
            first = False
            yield from problem_lines([finding.problem], paint=screen.paint, width=screen.width)
        if len(full) < len(group):
            yield from _more_subjects(group[1:], screen)


def _more_subjects(findings: list[StatusFinding], screen: Screen) -> Iterator[str]:
    names = list(dict.fromkeys(finding.subject for finding in findings))
    more = f" and {len(names) - _MAX_NAMES} more" if len(names) > _MAX_NAMES else ""
    text = f"{', '.join(names[:_MAX_NAMES])}{more}"
    label = screen.paint("  also:", "faint")
    first, *lines = [text] if screen.width is None else wrap(text, screen.width - 9)
    yield f"{label}  {first}"
    yield from (f"{'':9}{line}" for line in lines)


def _part_table(status: Status, screen: Screen) -> Iterator[str]:
    rows = [
        (section.title, _health_cell(section.health), section.summary) for section in status.parts
    ]
    return table(("PART", "STATE", "DETAILS"), rows, width=screen.width, paint=screen.paint)


def _health_cell(health: Health) -> Cell:
    return Cell(health.value, STYLES[health.value])


def _nodes(nodes: tuple[NodeStatus, ...], screen: Screen, *, every: bool) -> Iterator[str]:
    if every or len(nodes) <= _MAX_ALL_LISTED:
        yield from _table(nodes, screen)
        return
    ill = [node for node in nodes if node.health.value != "ok"]
    if ill:
        yield from _table(ill[:_MAX_UNHEALTHY], screen)
        if len(ill) > _MAX_UNHEALTHY:
            yield (
                f"and {len(ill) - _MAX_UNHEALTHY} more unhealthy nodes; use `--all` to list them"
            )
        yield ""
    well = [node for node in nodes if node.health.value == "ok"]
    yield from _group_lines(well, screen.paint)


def _table(nodes: Iterable[NodeStatus], screen: Screen) -> Iterator[str]:
    headers = ("NODE", "STATE", "ROLE", "VM", "MACHINE", "ETCD", "KUBELET")
    rows = [_row(node) for node in nodes]
    return table(headers, rows, width=screen.width, paint=screen.paint)


def _row(node: NodeStatus) -> Row:
    vm = node.vm
    return (
        Cell(node.name, "name"),
        _health_cell(node.health),
        node.role,
        Cell(f"{vm.vmid} {vm.summary}", _style(vm.health)) if vm is not None else "unmanaged",
        Cell(
            _join_version(node.machine.version, node.machine.summary), _style(node.machine.health)
        ),
        node.etcd,
        Cell(
            _join_version(node.kubelet.version, node.kubelet.summary), _style(node.kubelet.health)
        ),
    )


def _join_version(version: str, seen: str) -> str:
    return f"{version} {seen}".strip()


def _style(health: Health) -> str:
    return "" if health.value == "ok" else STYLES[health.value]


def _group_lines(nodes: list[NodeStatus], paint: Paint) -> Iterator[str]:
    """Count healthy nodes by role and versions."""
    groups = Counter((node.role, node.machine.version, node.kubelet.version) for node in nodes)
    hosts: dict[tuple[str, str, str], set[str]] = {}
    for node in nodes:
        key = (node.role, node.machine.version, node.kubelet.version)
        if node.vm is not None:
            hosts.setdefault(key, set()).add(node.vm.host)
    for key, count in groups.most_common():
        role, talos, kubelet = key
        on = len(hosts.get(key, ()))
        where = f" on {on} {'host' if on == 1 else 'hosts'}" if on else ""
        noun = role if count == 1 else f"{role}s"
        yield f"{paint('ok', 'good')} {count} {noun}{where}: Talos {talos}, kubelet {kubelet}"


_SILENCE = timedelta(minutes=1)
_MAX_PROBLEMS_PER_PART = 4
"""Maximum number of problems below a part."""
_CUT = "..."


class WaitingTree:
    """Shows each part and what it waits for; redrawn with every status."""

    def __init__(self, screen: Screen, longest: timedelta) -> None:
        self._screen = screen
        self._longest = longest
        self._area = LiveArea(screen)

    def __call__(self, status: Status, passed: timedelta) -> None:
        """Draw a status."""
        width = (self._screen.notes_width or 80) - 1
        room = max(self._screen.notes_height - 1, 1)
        lines = [_fit(line, width) for line in self._tree(status, passed)]
        if len(lines) > room:
            lines = [*lines[: room - 1], [Cell(f"and {len(lines) - room + 1} more lines", "faint")]]
        self._area.draw((), lines)

    def close(self) -> None:
        """Clear the tree."""
        self._area.draw((), ())

    def _tree(self, status: Status, passed: timedelta) -> Iterator[Sequence[Cell]]:
        spent, longest = passed.total_seconds(), self._longest.total_seconds()
        yield [
            Cell(
                f"waiting until everything is healthy: {format_duration(spent)} of "
                f"{format_duration(longest)}"
            )
        ]
        for section in status.parts:
            health = section.health.value
            yield [
                Cell(f"  {health:<8}", STYLES[health]),
                Cell(f" {section.title:<13}", "heading"),
                Cell(section.summary),
            ]
            findings = [finding for finding in section.findings if finding.problem.is_error]
            for finding in findings[:_MAX_PROBLEMS_PER_PART]:
                yield [Cell(f"{'':12}- {finding.problem.what}: {finding.problem.why}")]
            if len(findings) > _MAX_PROBLEMS_PER_PART:
                yield [Cell(f"{'':12}and {len(findings) - _MAX_PROBLEMS_PER_PART} more", "faint")]


class WaitingLines:
    """Prints a line when the status changes, and otherwise once a minute."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._last = ""
        self._last_time = -_SILENCE

    def __call__(self, status: Status, passed: timedelta) -> None:
        """Print a line if the status changed or the last line is old enough."""
        waits = [
            f"{section.title}: {section.summary}" for section in status.parts if not section.is_good
        ]
        text = "; ".join(waits)
        if text and (text != self._last or passed - self._last_time >= _SILENCE):
            self._screen.note(f"{status.at:%H:%M:%S} waiting for {escape_control(text)}")
            self._last, self._last_time = text, passed

    def close(self) -> None:
        """Do nothing; every line is printed already."""


def waiting_view(screen: Screen, longest: timedelta) -> WaitingTree | WaitingLines:
    """Return the view that fits the screen."""
    return WaitingTree(screen, longest) if screen.can_redraw else WaitingLines(screen)


def _fit(line: Sequence[Cell], width: int) -> list[Cell]:
    cells = []
    for cell in line:
        text = escape_control(cell.text)
        if display_width(text) > width:
            while text and display_width(text) + len(_CUT) > width:
                text = text[:-1]
            text = (text + _CUT)[: max(width, 0)]
        cells.append(cell._replace(text=text))
        width -= display_width(text)
    return cells
