"""`stockman versions`: show compatibility tables and the versions in the configuration."""

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
    """Data for all views."""

    tables: Tables
    pins: Pins
    report: VersionsReport


class VersionTable(NamedTuple):
    """One table."""

    headers: tuple[str, ...]
    rows: Sequence[Row]


class VersionView(NamedTuple):
    """One topic: as data, by name, and as tables."""

    kind: str
    data: dict[str, object]
    names: list[str]
    sections: list[VersionTable]

    def lines(self, screen: Screen) -> Iterator[str]:
        """Return the lines of all tables, separated by empty lines."""
        for number, section in enumerate(self.sections):
            if number:
                yield ""
            yield from table(*section, width=screen.width, paint=screen.paint)


def summary_view(known: VersionFacts) -> VersionView:
    """Return which versions fit together, and the state of the pinned versions."""
    report = known.report
    shown = [
        *report.platform,
        *(component for component in report.components if component.pinned is not None),
    ]
    rows = [_comparison(comparison) for comparison in shown]
    return VersionView(
        kind="Versions",
        data={
            "online": report.online,
            "refreshed": report.refreshed,
            "platform": report.platform,
            "components": report.components,
        },
        names=[comparison.name for comparison in shown],
        sections=[
            talos_view(known).sections[0],
            VersionTable(("NAME", "PINNED", "NEWEST", "STATE", "NOTE"), rows),
        ],
    )


def talos_view(known: VersionFacts) -> VersionView:
    """Return every supported Talos minor version, with what it contains and supports."""
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
            Cell(str(line.line), "name"),
            str(line.newest),
            _applicable(line.line, known.pins.talos),
            _span(*line.kubernetes),
            str(line.kubernetes_default),
            str(line.etcd),
            str(line.kernel),
            f"{line.installs_over[0]} to <{line.installs_over[1]}",
        )
        for line in lines
    ]
    return VersionView(
        kind="TalosVersions",
        data=_data(known, "talos", (line._asdict() for line in lines)),
        names=[str(line.line) for line in lines],
        sections=[VersionTable(headers, rows)],
    )


def kubernetes_view(known: VersionFacts) -> VersionView:
    """Return every Kubernetes minor version and the Talos versions that run it."""
    lines = known.tables.kubernetes
    rows: list[Row] = [
        (
            Cell(str(line.line), "name"),
            str(line.newest),
            _applicable(line.line, known.pins.kubernetes),
            ", ".join(str(talos) for talos in line.talos),
        )
        for line in lines
    ]
    return VersionView(
        kind="KubernetesVersions",
        data=_data(known, "kubernetes", (line._asdict() for line in lines)),
        names=[str(line.line) for line in lines],
        sections=[VersionTable(("KUBERNETES", "NEWEST", "PINNED", "TALOS"), rows)],
    )


def proxmox_view(known: VersionFacts) -> VersionView:
    """Return every Proxmox VE version; unsupported ones with the reason."""
    lines = known.tables.proxmox
    rows: list[Row] = [
        (
            Cell(str(line.line), "name"),
            Cell("no", "error") if line.refused else Cell("yes", "good"),
            _applicable(line.line, known.pins.proxmox),
            line.refused or "; ".join(line.notes),
        )
        for line in lines
    ]
    return VersionView(
        kind="ProxmoxVersions",
        data=_data(known, "proxmox", (line._asdict() for line in lines)),
        names=[str(line.line) for line in lines if not line.refused],
        sections=[VersionTable(("PROXMOX VE", "SUPPORTED", "PINNED", "NOTE"), rows)],
    )


def components_view(known: VersionFacts) -> VersionView:
    """Return every component with its chart and the state of its pinned version."""
    facts = {component.name: component for component in known.tables.components}
    rows: list[Row] = []
    data: list[dict[str, object]] = []
    for component in known.report.components:
        fact = facts.get(component.name)
        needs = {} if fact is None else fact.needs
        rows.append(
            (
                *_comparison(component)[:3],
                "" if fact is None else fact.app_version,
                ", ".join(f"{name} {version}" for name, version in needs.items()),
                *_comparison(component)[3:],
            )
        )
        data.append(
            {
                **({"name": component.name} if fact is None else fact._asdict()),
                "pinned": component.pinned,
                "newest": component.newest,
                "standing": component.standing,
                "because": component.because,
            }
        )
    headers = ("NAME", "PINNED", "NEWEST", "APP", "NEEDS", "STATE", "NOTE")
    return VersionView(
        kind="ComponentVersions",
        data={"online": known.report.online, **_data(known, "components", data)},
        names=[component.name for component in known.report.components],
        sections=[VersionTable(headers, rows)],
    )


def extensions_view(known: VersionFacts) -> VersionView:
    """Return every official system extension of Talos."""
    lines = known.tables.extensions
    rows: list[Row] = [
        (Cell(extension.name, "name"), str(extension.since), extension.purpose)
        for extension in lines
    ]
    return VersionView(
        kind="Extensions",
        data=_data(known, "extensions", (extension._asdict() for extension in lines)),
        names=[extension.name for extension in lines],
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
    about = next(page for page in known.tables.about if page.name == name)
    return {**about._asdict(), "rows": [dict(row) for row in rows]}


def _comparison(comparison: VersionComparison) -> tuple[Cell, str, str, Cell, str]:
    return (
        Cell(comparison.name, "name"),
        "-" if comparison.pinned is None else str(comparison.pinned),
        "-" if comparison.newest is None else str(comparison.newest),
        Cell(comparison.standing.value, _STYLES[comparison.standing]),
        comparison.because,
    )


def _applicable(line: Version, pinned: Version | None) -> str:
    return str(pinned) if pinned is not None and pinned.line == line.line else "-"


def _span(first: Version, last: Version) -> str:
    return f"{first} to {last}"


TOPICS = ("talos", "kubernetes", "proxmox", "components", "extensions")


@command(
    examples={
        "stockman versions": "show compatible, pinned and newest versions",
        "stockman versions talos": "list supported Talos versions",
        "stockman versions components --online": "query the registries for the newest charts",
        "stockman versions extensions -o name": "print the names of all system extensions",
    }
)
@click.argument("topic", required=False, type=Choice(TOPICS))
@click.option("--online", is_flag=True, help="Query the chart registries for the newest versions.")
@options.output_or_name
@click.pass_context
def versions(ctx: click.Context, topic: str | None, online: bool, output: Output) -> int:
    """Show compatible versions, pinned versions and updates.

    TOPIC is talos, kubernetes, proxmox, components or extensions; it defaults to a summary of
    pinned and newest versions. No network connection is made without --online; with it, only the
    chart registries are queried.
    """
    if online and topic not in (None, "components"):
        raise click.UsageError(f"--online queries charts, so it cannot be combined with {topic}")

    from stockman.app.versions import compare_versions, version_tables
    from stockman.app.workspace import directory

    screen = current_screen()
    pins = directory.pins(options.directory(ctx))
    if online:
        screen.note("Querying the chart registries")
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
        screen.note(f"Tables of {report.refreshed}; use `--online` to look for newer charts")
    return 0
