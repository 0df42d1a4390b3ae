"""The tables that `stockman versions` prints, one view per topic."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import click

from stockman.app.versions import Pins, Tables, VersionComparison, VersionsReport, VersionStanding
from stockman.cli import options
from stockman.cli.command import command
from stockman.cli.options import Choice
from stockman.cli.output import Output, show
from stockman.cli.terminal.screen import Screen, current_screen
from stockman.cli.terminal.tables import Cell, Row, table
from stockman.model.version import Version

_STYLES = {
    VersionStanding.CURRENT: "good",
    VersionStanding.BEHIND: "warning",
    VersionStanding.AHEAD: "warning",
    VersionStanding.REFUSED: "error",
    VersionStanding.UNKNOWN: "warning",
    VersionStanding.NOT_PINNED: "faint",
}


class VersionFacts(NamedTuple):
    """Everything a view may show."""

    tables: Tables
    pins: Pins
    report: VersionsReport


class VersionTable(NamedTuple):
    """One table for people."""

    headers: tuple[str, ...]
    rows: Sequence[Row]


class VersionView(NamedTuple):
    """One topic: for programs, by name, and for people."""

    kind: str
    data: dict[str, object]
    names: list[str]
    sections: list[VersionTable]

    def lines(self, screen: Screen) -> Iterator[str]:
        """The sections, an empty line between two."""
        for number, section in enumerate(self.sections):
            if number:
                yield ""
            yield from table(*section, width=screen.width, paint=screen.paint)


def summary_view(known: VersionFacts) -> VersionView:
    """What runs on what, and how the pinned versions stand."""
    report = known.report
    shown = [*report.platform, *(one for one in report.components if one.pinned is not None)]
    rows = [_comparison(one) for one in shown]
    return VersionView(
        kind="Versions",
        data={
            "online": report.online,
            "refreshed": report.refreshed,
            "platform": report.platform,
            "components": report.components,
        },
        names=[one.name for one in shown],
        sections=[
            talos_view(known).sections[0],
            VersionTable(("NAME", "PINNED", "NEWEST", "STATE", "NOTE"), rows),
        ],
    )


def talos_view(known: VersionFacts) -> VersionView:
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
            _applicable(one.line, known.pins.talos),
            _span(*one.kubernetes),
            str(one.kubernetes_default),
            str(one.etcd),
            str(one.kernel),
            f"{one.installs_over[0]} to <{one.installs_over[1]}",
        )
        for one in lines
    ]
    return VersionView(
        kind="TalosVersions",
        data=_data(known, "talos", (one._asdict() for one in lines)),
        names=[str(one.line) for one in lines],
        sections=[VersionTable(headers, rows)],
    )


def kubernetes_view(known: VersionFacts) -> VersionView:
    """Every line of Kubernetes and the Talos lines that run it."""
    lines = known.tables.kubernetes
    rows: list[Row] = [
        (
            Cell(str(one.line), "name"),
            str(one.newest),
            _applicable(one.line, known.pins.kubernetes),
            ", ".join(str(talos) for talos in one.talos),
        )
        for one in lines
    ]
    return VersionView(
        kind="KubernetesVersions",
        data=_data(known, "kubernetes", (one._asdict() for one in lines)),
        names=[str(one.line) for one in lines],
        sections=[VersionTable(("KUBERNETES", "NEWEST", "PINNED", "TALOS"), rows)],
    )


def proxmox_view(known: VersionFacts) -> VersionView:
    """Every line of Proxmox VE, the refused ones with the reason."""
    lines = known.tables.proxmox
    rows: list[Row] = [
        (
            Cell(str(one.line), "name"),
            Cell("no", "error") if one.refused else Cell("yes", "good"),
            _applicable(one.line, known.pins.proxmox),
            one.refused or "; ".join(one.notes),
        )
        for one in lines
    ]
    return VersionView(
        kind="ProxmoxVersions",
        data=_data(known, "proxmox", (one._asdict() for one in lines)),
        names=[str(one.line) for one in lines if not one.refused],
        sections=[VersionTable(("PROXMOX VE", "SUPPORTED", "PINNED", "NOTE"), rows)],
    )


def components_view(known: VersionFacts) -> VersionView:
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
    return VersionView(
        kind="ComponentVersions",
        data={"online": known.report.online, **_data(known, "components", data)},
        names=[one.name for one in known.report.components],
        sections=[VersionTable(headers, rows)],
    )


def extensions_view(known: VersionFacts) -> VersionView:
    """Every official system extension of Talos."""
    lines = known.tables.extensions
    rows: list[Row] = [(Cell(one.name, "name"), str(one.since), one.purpose) for one in lines]
    return VersionView(
        kind="Extensions",
        data=_data(known, "extensions", (one._asdict() for one in lines)),
        names=[one.name for one in lines],
        sections=[VersionTable(("EXTENSION", "SINCE", "PURPOSE"), rows)],
    )


VIEWS: Mapping[str, Callable[[VersionFacts], VersionView]] = {
    "talos": talos_view,
    "kubernetes": kubernetes_view,
    "proxmox": proxmox_view,
    "components": components_view,
    "extensions": extensions_view,
}


def _data(
    known: VersionFacts, name: str, rows: Iterable[Mapping[str, object]]
) -> dict[str, object]:
    about = next(one for one in known.tables.about if one.name == name)
    return {**about._asdict(), "rows": [dict(row) for row in rows]}


def _comparison(one: VersionComparison) -> tuple[Cell, str, str, Cell, str]:
    return (
        Cell(one.name, "name"),
        "-" if one.pinned is None else str(one.pinned),
        "-" if one.newest is None else str(one.newest),
        Cell(one.standing.value, _STYLES[one.standing]),
        one.because,
    )


def _applicable(line: Version, pinned: Version | None) -> str:
    return str(pinned) if pinned is not None and pinned.line == line.line else "-"


def _span(first: Version, last: Version) -> str:
    return f"{first} to {last}"


TOPICS = ("talos", "kubernetes", "proxmox", "components", "extensions")


@command(
    examples={
        "stockman versions": "show which versions fit together, what you pin and what is newer",
        "stockman versions talos": "show every supported Talos and what it runs",
        "stockman versions components --online": "ask the registries for the newest charts",
        "stockman versions extensions -o name": "list the names of all system extensions",
    }
)
@click.argument("topic", required=False, type=Choice(TOPICS))
@click.option("--online", is_flag=True, help="Ask the registries of the charts what is newest.")
@options.output_or_name
@click.pass_context
def versions(ctx: click.Context, topic: str | None, online: bool, output: Output) -> int:
    """Show which versions fit together, what you pin and what is newer.

    TOPIC is one of talos, kubernetes, proxmox, components and extensions; without it, the pinned
    versions are shown beside the newest. Nothing is asked over the network without --online, and
    then only the registries that charts are published in.
    """
    if online and topic not in (None, "components"):
        raise click.UsageError(f"--online asks for charts, so it has no use with {topic}")

    from stockman.app.versions import compare_versions, version_tables
    from stockman.app.workspace import directory

    screen = current_screen()
    pins = directory.pins(options.directory(ctx))
    if online:
        screen.note("asking the registries of the charts")
    report = compare_versions(pins, online=online)
    known = VersionFacts(version_tables(), pins, report)
    view = summary_view(known) if topic is None else VIEWS[topic](known)
    show(
        view.data,
        kind=view.kind,
        output=output,
        human=lambda _, screen: view.lines(screen),
        names=lambda _: view.names,
    )
    if not online:
        screen.note(f"from tables of {report.refreshed}; `--online` asks for newer charts")
    return 0
