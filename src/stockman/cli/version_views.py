"""The tables that `stockman versions` prints, one view per topic."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from stockman.app.versions import Comparison, Pins, Standing, Tables, VersionsReport
from stockman.cli.screen import Screen
from stockman.cli.tables import Cell, Row, table
from stockman.model.version import Version

_STYLES = {
    Standing.CURRENT: "good",
    Standing.BEHIND: "warning",
    Standing.AHEAD: "warning",
    Standing.REFUSED: "error",
    Standing.UNKNOWN: "warning",
    Standing.NOT_PINNED: "faint",
}


class Known(NamedTuple):
    """Everything a view may show."""

    tables: Tables
    pins: Pins
    report: VersionsReport


class Section(NamedTuple):
    """One table for people."""

    headers: tuple[str, ...]
    rows: Sequence[Row]


class View(NamedTuple):
    """One topic: for programs, by name, and for people."""

    kind: str
    data: dict[str, object]
    names: list[str]
    sections: list[Section]

    def lines(self, screen: Screen) -> Iterator[str]:
        """The sections, an empty line between two."""
        for number, section in enumerate(self.sections):
            if number:
                yield ""
            yield from table(*section, width=screen.width, paint=screen.paint)


def summary(known: Known) -> View:
    """What runs on what, and how the pinned versions stand."""
    report = known.report
    shown = [*report.platform, *(one for one in report.components if one.pinned is not None)]
    rows = [_comparison(one) for one in shown]
    return View(
        kind="Versions",
        data={
            "online": report.online,
            "refreshed": report.refreshed,
            "platform": report.platform,
            "components": report.components,
        },
        names=[one.name for one in shown],
        sections=[
            talos(known).sections[0],
            Section(("NAME", "PINNED", "NEWEST", "STATE", "NOTE"), rows),
        ],
    )


def talos(known: Known) -> View:
    """Every supported line of Talos with what it brings and runs."""
    lines = known.tables.talos
    headers = (
        "TALOS",
        "NEWEST",
        "PINNED",
        "KUBERNETES",
        "DEFAULT",
        "ETCD",
        "KERNEL",
        "INSTALLS OVER",
    )
    rows: list[Row] = [
        (
            Cell(str(one.line), "name"),
            str(one.newest),
            _if_of(one.line, known.pins.talos),
            _span(*one.kubernetes),
            str(one.kubernetes_default),
            str(one.etcd),
            str(one.kernel),
            f"{one.installs_over[0]} to <{one.installs_over[1]}",
        )
        for one in lines
    ]
    return View(
        kind="TalosVersions",
        data=_data(known, "talos", (one._asdict() for one in lines)),
        names=[str(one.line) for one in lines],
        sections=[Section(headers, rows)],
    )


def kubernetes(known: Known) -> View:
    """Every line of Kubernetes and the Talos lines that run it."""
    lines = known.tables.kubernetes
    rows: list[Row] = [
        (
            Cell(str(one.line), "name"),
            str(one.newest),
            _if_of(one.line, known.pins.kubernetes),
            ", ".join(str(talos) for talos in one.talos),
        )
        for one in lines
    ]
    return View(
        kind="KubernetesVersions",
        data=_data(known, "kubernetes", (one._asdict() for one in lines)),
        names=[str(one.line) for one in lines],
        sections=[Section(("KUBERNETES", "NEWEST", "PINNED", "TALOS"), rows)],
    )


def proxmox(known: Known) -> View:
    """Every line of Proxmox VE, the refused ones with the reason."""
    lines = known.tables.proxmox
    rows: list[Row] = [
        (
            Cell(str(one.line), "name"),
            Cell("no", "error") if one.refused else Cell("yes", "good"),
            _if_of(one.line, known.pins.proxmox),
            one.refused or "; ".join(one.notes),
        )
        for one in lines
    ]
    return View(
        kind="ProxmoxVersions",
        data=_data(known, "proxmox", (one._asdict() for one in lines)),
        names=[str(one.line) for one in lines if not one.refused],
        sections=[Section(("PROXMOX VE", "SUPPORTED", "PINNED", "NOTE"), rows)],
    )


def components(known: Known) -> View:
    """Every component with its chart, and how its pin stands."""
    facts = {one.name: one for one in known.tables.components}
    rows: list[Row] = []
    data: list[dict[str, object]] = []
    for one in known.report.components:
        fact = facts.get(one.name)
        needs = {} if fact is None else fact.needs
        rows.append(
            (
                *_comparison(one)[:3],
                "" if fact is None else fact.app,
                ", ".join(f"{name} {version}" for name, version in needs.items()),
                *_comparison(one)[3:],
            )
        )
        data.append(
            {
                **({"name": one.name} if fact is None else fact._asdict()),
                "pinned": one.pinned,
                "newest": one.newest,
                "standing": one.standing,
                "because": one.because,
            }
        )
    headers = ("NAME", "PINNED", "NEWEST", "APP", "NEEDS", "STATE", "NOTE")
    return View(
        kind="ComponentVersions",
        data={"online": known.report.online, **_data(known, "components", data)},
        names=[one.name for one in known.report.components],
        sections=[Section(headers, rows)],
    )


def extensions(known: Known) -> View:
    """Every official system extension of Talos."""
    lines = known.tables.extensions
    rows: list[Row] = [(Cell(one.name, "name"), str(one.since), one.purpose) for one in lines]
    return View(
        kind="Extensions",
        data=_data(known, "extensions", (one._asdict() for one in lines)),
        names=[one.name for one in lines],
        sections=[Section(("EXTENSION", "SINCE", "PURPOSE"), rows)],
    )


TOPICS: Mapping[str, Callable[[Known], View]] = {
    "talos": talos,
    "kubernetes": kubernetes,
    "proxmox": proxmox,
    "components": components,
    "extensions": extensions,
}


def _data(known: Known, name: str, rows: Iterable[Mapping[str, object]]) -> dict[str, object]:
    about = next(one for one in known.tables.about if one.name == name)
    return {**about._asdict(), "rows": [dict(row) for row in rows]}


def _comparison(one: Comparison) -> tuple[Cell, str, str, Cell, str]:
    return (
        Cell(one.name, "name"),
        "-" if one.pinned is None else str(one.pinned),
        "-" if one.newest is None else str(one.newest),
        Cell(one.standing.value, _STYLES[one.standing]),
        one.because,
    )


def _if_of(line: Version, pinned: Version | None) -> str:
    return str(pinned) if pinned is not None and pinned.line == line.line else "-"


def _span(first: Version, last: Version) -> str:
    return f"{first} to {last}"
