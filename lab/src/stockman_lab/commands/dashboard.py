"""The dashboard of a Talos machine in the lab, laid out as the real one is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Any

from stockman.cli.terminal.screen import Screen
from stockman.cli.terminal.styles import display_width, escape_control, format_duration
from stockman.cli.terminal.tables import Cell, table, wrap

_GAP = 3
_GIB = 1 << 30
_MIB = 1 << 20
_NOTHING = "n/a"
_CONTROL_PLANE = ("apiserver", "controller-manager", "scheduler")

Fact = tuple[str, str]


def dashboard(console: dict[str, Any], screen: Screen) -> Iterator[str]:
    """All lines of it: header, facts in columns, what is missing, services."""
    yield from _fit_line(_header(console), screen)
    yield ""
    yield from _columns([_node(console), _kubernetes(console), _network(console)], screen.width)
    for line in console["unmet"]:
        yield from _fit_line(f"not ready: {line}", screen)
    if console["halted"]:
        yield from _fit_line(f"halted: {console['halted']}", screen)
    if console["services"]:
        yield ""
        rows = [_service(service) for service in console["services"]]
        headers = ["SERVICE", "STATE", "HEALTH", "LAST CHANGE"]
        yield from table(headers, rows, width=screen.width, paint=screen.paint)


def _header(console: dict[str, Any]) -> str:
    name = f"{console['name']} ({console['version'] or _NOTHING})"
    figures = console["figures"]
    if not figures:
        return f"{name}: without power"
    return (
        f"{name}: uptime {format_duration(figures['uptime'])},"
        f" {figures['cores']}x{figures['mhz'] / 1000:.3g}GHz, {_size(figures['memory'])} RAM,"
        f" PROCS {figures['processes']}, CPU {figures['cpu']:.1%},"
        f" RAM {figures['memory_used']:.1%}"
    )


def _node(console: dict[str, Any]) -> list[Fact]:
    machines = console["machines"]
    cluster = f"{console['talos_cluster']} ({machines} machines)" if machines else _NOTHING
    return [
        ("UUID", console["uuid"] or _NOTHING),
        ("CLUSTER", cluster),
        ("STAGE", str(console["stage"]).capitalize()),
        ("READY", str(console["ready"])),
        ("TYPE", console["type"]),
        ("SECUREBOOT", str(console["secure_boot"])),
        ("PLATFORM", console["platform"] or _NOTHING),
    ]


def _kubernetes(console: dict[str, Any]) -> list[Fact]:
    kubernetes = console["kubernetes"]
    names = ("version", "kubelet", *(one for one in _CONTROL_PLANE if one in kubernetes))
    titles = {"version": "KUBERNETES"}
    return [(titles.get(name, name.upper()), str(kubernetes.get(name, _NOTHING))) for name in names]


def _network(console: dict[str, Any]) -> list[Fact]:
    network = console["network"]
    return [
        ("HOST", network["hostname"] or _NOTHING),
        ("IP", ", ".join(network["addresses"]) or _NOTHING),
        ("GW", ", ".join(network["gateways"]) or _NOTHING),
        ("CONNECTIVITY", "OK" if network["reachable"] else "FAILED"),
        ("DNS", ", ".join(network["dns"]) or _NOTHING),
        ("NTP", ", ".join(network["ntp"]) or _NOTHING),
    ]


def _columns(blocks: Sequence[list[Fact]], width: int | None) -> Iterator[str]:
    """Blocks beside each other, or under each other where the terminal is too narrow."""
    drawn = [_block(block) for block in blocks]
    widths = [max((display_width(line) for line in one), default=0) for one in drawn]
    if width is not None and sum(widths) + _GAP * (len(widths) - 1) > width:
        for one in drawn:
            for line in one:
                yield from wrap(line, width)
        return
    for lines in zip_longest(*drawn, fillvalue=""):
        cells = [
            line + " " * (room - display_width(line))
            for line, room in zip(lines, widths, strict=True)
        ]
        yield (" " * _GAP).join(cells).rstrip()


def _block(facts: list[Fact]) -> list[str]:
    longest = max(len(name) for name, _ in facts)
    return [f"{name:<{longest}}  {escape_control(value)}" for name, value in facts]


def _service(service: dict[str, Any]) -> list[str | Cell]:
    style = {"healthy": "good", "unhealthy": "error"}.get(service["health"], "")
    return [
        service["id"],
        service["state"],
        Cell(service["health"], style),
        service["message"],
    ]


def _fit_line(line: str, screen: Screen) -> list[str]:
    text = escape_control(line)
    return [text] if screen.width is None else wrap(text, screen.width)


def _size(size: int) -> str:
    return f"{size / _GIB:.3g} GiB" if size >= _GIB else f"{size // _MIB} MiB"
