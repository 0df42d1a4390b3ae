"""Known versions, versions pinned in the user's files, and newer ones."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import field
from enum import Enum
from typing import NamedTuple

from stockman.model import compatibility, component
from stockman.model.compatibility import Compatibility, Verdict
from stockman.model.component import ComponentFacts
from stockman.model.errors import StockmanError
from stockman.model.record import record
from stockman.model.tables import TABLE_NAMES, TableInfo, table_info
from stockman.model.version import Version
from stockman.ports.images import Registry

_AT_ONCE = 8


@record
class Pins:
    """Versions that the user's files pin; None or missing: not pinned."""

    talos: Version | None = None
    kubernetes: Version | None = None
    proxmox: Version | None = None
    components: Mapping[str, Version] = field(default_factory=dict)


class VersionStanding(Enum):
    """How a pinned version compares to the newest one."""

    CURRENT = "current"
    BEHIND = "newer exists"
    AHEAD = "newer than known"
    REFUSED = "not supported"
    NOT_PINNED = "not pinned"
    UNKNOWN = "unknown"


@record
class VersionComparison:
    """Pinned and newest version of one product or component, and the conclusion."""

    name: str
    pinned: Version | None
    newest: Version | None
    """None: unknown."""
    standing: VersionStanding
    because: str = ""
    """Empty: the versions are self-explanatory."""


@record
class VersionsReport:
    """All comparisons, and the age of the version tables."""

    online: bool
    """Whether registries were queried for charts; otherwise only the tables are used."""
    refreshed: str
    """Date of the oldest table, YYYY-MM-DD."""
    platform: tuple[VersionComparison, ...]
    components: tuple[VersionComparison, ...]


class KubernetesRow(NamedTuple):
    """A Kubernetes minor version and the Talos versions that support it."""

    line: Version
    newest: Version
    talos: tuple[Version, ...]


@record
class Tables:
    """All version tables, for printing."""

    about: tuple[TableInfo, ...]
    talos: tuple[compatibility.TalosLine, ...]
    kubernetes: tuple[KubernetesRow, ...]
    proxmox: tuple[compatibility.ProxmoxLine, ...]
    components: tuple[ComponentFacts, ...]
    extensions: tuple[compatibility.TalosExtension, ...]


@record
class _Answer:
    """Answer of a registry for a chart: the newest stable version, or why there is none."""

    newest: Version | None = None
    because: str = ""


def version_tables() -> Tables:
    """Return all version tables."""
    return Tables(
        about=tuple(table_info(name) for name in TABLE_NAMES),
        talos=compatibility.talos_lines(),
        kubernetes=tuple(
            KubernetesRow(
                line=kubernetes_line.line,
                newest=kubernetes_line.newest,
                talos=tuple(
                    talos.line
                    for talos in compatibility.talos_lines()
                    if talos.kubernetes[0] <= kubernetes_line.line <= talos.kubernetes[1]
                ),
            )
            for kubernetes_line in compatibility.kubernetes_lines()
        ),
        proxmox=compatibility.proxmox_lines(),
        components=component.all_component_facts(),
        extensions=compatibility.extensions(),
    )


async def report_versions(pins: Pins, registry: Registry | None = None) -> VersionsReport:
    """Compare pins with the tables, and with a registry if given.

    A registry that does not answer makes only its own rows unknown.
    """
    answers = None if registry is None else await _ask(registry, component.all_component_facts())
    return VersionsReport(
        online=registry is not None,
        refreshed=min(table_info(name).refreshed for name in TABLE_NAMES),
        platform=(_talos(pins), _kubernetes(pins), _proxmox(pins)),
        components=tuple(_components(pins, answers)),
    )


def compare_versions(pins: Pins, *, online: bool) -> VersionsReport:
    """Return the report; query the real registries if `online`."""
    return asyncio.run(_report_online(pins) if online else report_versions(pins))


async def _report_online(pins: Pins) -> VersionsReport:
    from stockman.adapters.registry import HttpRegistry

    async with HttpRegistry() as registry:
        return await report_versions(pins, registry)


def newest_stable(tags: Iterable[str]) -> Version | None:
    """Return the newest release among tags, without pre-releases and other names."""
    versions: list[Version] = []
    for tag in tags:
        try:
            version = Version.parse(tag)
        except ValueError:
            continue
        if version.patch is not None and not version.pre:
            versions.append(version)
    return max(versions, default=None)


async def _ask(registry: Registry, known: Iterable[ComponentFacts]) -> Mapping[str, _Answer]:
    limit = asyncio.Semaphore(_AT_ONCE)
    async with asyncio.TaskGroup() as group:
        tasks = {
            component_facts.name: group.create_task(
                _answer(registry, component_facts.repository, limit)
            )
            for component_facts in known
        }
    return {name: task.result() for name, task in tasks.items()}


async def _answer(registry: Registry, repository: str, limit: asyncio.Semaphore) -> _Answer:
    if not repository.startswith("oci://"):
        return _Answer(because="it has no chart in a registry that lists tags")
    async with limit:
        try:
            tags = await registry.tags(repository)
        except StockmanError as error:
            return _Answer(because=f"{error.problem.what}: {error.problem.why}")
    newest = newest_stable(tags)
    if newest is None:
        return _Answer(because=f"none of the registry's {len(tags)} tags is a stable version")
    return _Answer(newest=newest)


def _talos(pins: Pins) -> VersionComparison:
    newest = compatibility.talos_lines()[-1].newest
    if pins.talos is None:
        return _without_pin("talos", newest)
    patch = compatibility.newest_known_patch(pins.talos)
    return _compare_pin(
        "talos", pins.talos, newest, compatibility.talos_compatibility(pins.talos), patch
    )


def _kubernetes(pins: Pins) -> VersionComparison:
    usable = None if pins.talos is None else compatibility.kubernetes_range(pins.talos)
    newest = max(
        kubernetes_line.newest
        for kubernetes_line in compatibility.kubernetes_lines()
        if usable is None or usable[0] <= kubernetes_line.line <= usable[1]
    )
    if pins.kubernetes is None:
        return _without_pin("kubernetes", newest)
    if pins.talos is None:
        fit = Compatibility(verdict=Verdict.OK, reason="no Talos is pinned to judge it by")
    else:
        fit = compatibility.kubernetes_compatibility(pins.talos, pins.kubernetes)
    line = compatibility.kubernetes_line(pins.kubernetes)
    patch = None if line is None else line.newest
    return _compare_pin("kubernetes", pins.kubernetes, newest, fit, patch)


def _proxmox(pins: Pins) -> VersionComparison:
    newest = compatibility.proxmox_lines()[-1].line
    if pins.proxmox is None:
        return _without_pin("proxmox", newest)
    return _compare_pin(
        "proxmox", pins.proxmox, newest, compatibility.proxmox_compatibility(pins.proxmox), None
    )


def _without_pin(name: str, newest: Version) -> VersionComparison:
    return VersionComparison(
        name=name, pinned=None, newest=newest, standing=VersionStanding.NOT_PINNED
    )


def _compare_pin(
    name: str, pinned: Version, newest: Version, fit: Compatibility, patch: Version | None
) -> VersionComparison:
    because = ""
    if fit.verdict is Verdict.REFUSED:
        standing, because = VersionStanding.REFUSED, fit.reason
    elif fit.verdict is Verdict.NEWER:
        standing, because = VersionStanding.AHEAD, fit.reason
    elif pinned < newest:
        standing = VersionStanding.BEHIND
        if patch is not None and patch != newest:
            because = f"newest {pinned.minor_text}: {patch}"
    else:
        standing = VersionStanding.CURRENT
    return VersionComparison(
        name=name, pinned=pinned, newest=newest, standing=standing, because=because
    )


def _components(pins: Pins, answers: Mapping[str, _Answer] | None) -> Iterable[VersionComparison]:
    surroundings = {
        "talos": pins.talos,
        "kubernetes": pins.kubernetes,
        "proxmox": pins.proxmox,
    }
    pinned = {_name(name): version for name, version in pins.components.items()}
    for known in component.all_component_facts():
        answer = _from_table(known) if answers is None else answers[known.name]
        fit = component.component_compatibility(known, surroundings)
        yield _component(known, pinned.pop(known.name, None), answer, fit)
    for name, version in sorted(pinned.items()):
        yield VersionComparison(
            name=name,
            pinned=version,
            newest=None,
            standing=VersionStanding.UNKNOWN,
            because="the table has no such component",
        )


def _name(written: str) -> str:
    known = component.find_component_facts(written)
    return written if known is None else known.name


def _from_table(known: ComponentFacts) -> _Answer:
    return _Answer(newest=known.version, because="the table has no version of it")


def _component(
    known: ComponentFacts, pinned: Version | None, answer: _Answer, fit: Compatibility
) -> VersionComparison:
    because = "" if fit.verdict is Verdict.OK else fit.reason
    if answer.newest is None:
        standing, because = VersionStanding.UNKNOWN, answer.because
    elif pinned is None:
        standing = VersionStanding.NOT_PINNED
    elif fit.verdict is Verdict.REFUSED and pinned == known.version:
        standing = VersionStanding.REFUSED
    elif pinned == answer.newest:
        standing = VersionStanding.CURRENT
    else:
        standing = VersionStanding.BEHIND if pinned < answer.newest else VersionStanding.AHEAD
    return VersionComparison(
        name=known.name,
        pinned=pinned,
        newest=answer.newest,
        standing=standing,
        because=because,
    )
