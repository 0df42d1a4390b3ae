"""The report of versions: offline from the tables, online from registries that may fail."""

import asyncio

import pytest

from stockman.adapters.registry import HttpRegistry
from stockman.app.versions import (
    Pins,
    VersionComparison,
    VersionsReport,
    VersionStanding,
    compare_versions,
    newest_stable,
    report_versions,
    version_tables,
)
from stockman.model import compatibility
from stockman.model.component import all_component_facts, find_component_facts
from stockman.model.errors import Unreachable
from stockman.model.problem import Problem
from stockman.model.version import Version
from tests.adapters.fake_registry import FakeRegistry

v = Version.parse
PUBLISHED = [
    component_fact
    for component_fact in all_component_facts()
    if component_fact.repository.startswith("oci://")
]
CILIUM = v("1.20.1")
NO_ANSWER = Problem(
    code="registry.unreachable", what="there is no reply", why="connection refused", fix="wait"
)


class Registries:
    """Every registry there is, in memory: tags by repository, silent where told to be."""

    def __init__(self) -> None:
        self.tags_of: dict[str, tuple[str, ...]] = {one.repository: (one.tag,) for one in PUBLISHED}
        self.silent: set[str] = set()
        self.open = 0
        self.most_open = 0

    async def tags(self, repository: str) -> tuple[str, ...]:
        self.open += 1
        self.most_open = max(self.most_open, self.open)
        await _turn()
        self.open -= 1
        if repository in self.silent:
            raise Unreachable(NO_ANSWER)
        return self.tags_of[repository]


async def _turn() -> None:
    """Let the others run."""
    loop = asyncio.get_running_loop()
    turned = loop.create_future()
    loop.call_soon(turned.set_result, None)
    await turned


def row(versions_report: VersionsReport, name: str) -> VersionComparison:
    return next(
        one for one in (*versions_report.platform, *versions_report.components) if one.name == name
    )


def offline(pins: Pins) -> VersionsReport:
    return asyncio.run(report_versions(pins))


def online(pins: Pins, registries: Registries) -> VersionsReport:
    return asyncio.run(report_versions(pins, registries))


def repository(name: str) -> str:
    known = find_component_facts(name)
    assert known is not None
    return known.repository


def test_without_pins_everything_known_is_shown_as_not_pinned() -> None:
    found = offline(Pins())

    assert not found.online
    assert [one.name for one in found.platform] == ["talos", "kubernetes", "proxmox"]
    assert [component.name for component in found.components] == [
        component_fact.name for component_fact in all_component_facts()
    ]
    assert {one.standing for one in found.platform} == {VersionStanding.NOT_PINNED}
    assert all(one.newest is not None for one in found.platform)


def test_a_pin_is_compared_with_the_newest_and_with_its_own_line() -> None:
    talos = row(offline(Pins(talos=v("1.12.0"))), "talos")

    assert talos.standing is VersionStanding.BEHIND
    assert talos.newest == compatibility.talos_lines()[-1].newest
    assert talos.because == f"newest 1.12: {compatibility.newest_known_patch(v('1.12'))}"


def test_the_newest_talos_is_current() -> None:
    newest = compatibility.talos_lines()[-1].newest

    assert row(offline(Pins(talos=newest)), "talos").standing is VersionStanding.CURRENT


@pytest.mark.parametrize(
    ("pins", "name", "standing"),
    [
        (Pins(talos=v("1.14.99")), "talos", VersionStanding.AHEAD),
        (Pins(talos=v("1.10.0")), "talos", VersionStanding.REFUSED),
        (Pins(kubernetes=v("1.33.0")), "kubernetes", VersionStanding.BEHIND),
        (Pins(talos=v("1.12.0"), kubernetes=v("1.36.0")), "kubernetes", VersionStanding.REFUSED),
        (Pins(talos=v("1.12.0"), kubernetes=v("1.35.98")), "kubernetes", VersionStanding.AHEAD),
        (Pins(talos=v("1.10.0"), kubernetes=v("1.33.0")), "kubernetes", VersionStanding.REFUSED),
        (Pins(proxmox=v("8.3")), "proxmox", VersionStanding.REFUSED),
        (Pins(proxmox=v("8.4")), "proxmox", VersionStanding.BEHIND),
        (Pins(proxmox=v("9.2.4")), "proxmox", VersionStanding.CURRENT),
        (Pins(proxmox=v("9.99")), "proxmox", VersionStanding.AHEAD),
    ],
)
def test_a_pin_stands_as_the_tables_say(pins: Pins, name: str, standing: VersionStanding) -> None:
    assert row(offline(pins), name).standing is standing


def test_the_newest_kubernetes_is_one_that_the_pinned_talos_runs() -> None:
    found = row(offline(Pins(talos=v("1.11.5"), kubernetes=v("1.32.0"))), "kubernetes")

    assert found.newest is not None
    assert found.newest.line == (1, 34)


def test_a_pinned_chart_is_compared_with_the_table() -> None:
    found = offline(Pins(components={"cilium": v("1.19.3"), "tuppr": v("99.0.0")}))

    assert row(found, "cilium").standing is VersionStanding.BEHIND
    assert row(found, "cilium").newest == CILIUM
    assert row(found, "tuppr").standing is VersionStanding.AHEAD


def test_a_component_may_be_pinned_by_the_name_of_its_chart() -> None:
    found = offline(Pins(components={"proxmox-csi-plugin": v("0.5.4")}))

    assert row(found, "proxmox-csi").pinned == v("0.5.4")
    assert len(found.components) == len(all_component_facts())


def test_a_component_that_the_table_does_not_know_is_unknown() -> None:
    found = row(offline(Pins(components={"sendmail": v("8.18.1")})), "sendmail")

    assert (found.standing, found.newest) == (VersionStanding.UNKNOWN, None)
    assert found.because == "the table has no such component"


def test_a_pinned_component_that_the_cluster_is_too_old_for_is_refused() -> None:
    known = find_component_facts("karpenter")
    assert known is not None
    assert known.version is not None

    pins = Pins(kubernetes=v("1.29.0"), components={"karpenter": known.version})

    assert row(offline(pins), "karpenter").standing is VersionStanding.REFUSED
    assert "needs Kubernetes 1.30" in row(offline(pins), "karpenter").because


def test_what_speaks_against_a_newer_release_is_said_beside_the_older_pin() -> None:
    pins = Pins(kubernetes=v("1.29.0"), components={"karpenter": v("0.1.0")})

    assert row(offline(pins), "karpenter").standing is VersionStanding.BEHIND
    assert "needs Kubernetes 1.30" in row(offline(pins), "karpenter").because


def test_online_the_registry_wins_over_the_table() -> None:
    registries = Registries()
    registries.tags_of[repository("cilium")] = ("1.20.1", "1.20.2", "1.21.0-pre.0", "latest")

    versions_report = online(Pins(components={"cilium": CILIUM}), registries)

    assert versions_report.online
    assert row(versions_report, "cilium").standing is VersionStanding.BEHIND
    assert row(versions_report, "cilium").newest == v("1.20.2")


def test_a_silent_registry_makes_its_row_unknown_and_no_other() -> None:
    registries = Registries()
    registries.silent = {repository("cilium")}

    versions_report = online(Pins(components={"cilium": CILIUM, "tuppr": v("0.5.0")}), registries)

    cilium = row(versions_report, "cilium")
    assert (cilium.standing, cilium.newest) == (VersionStanding.UNKNOWN, None)
    assert cilium.because == "there is no reply: connection refused"
    assert row(versions_report, "tuppr").standing is VersionStanding.CURRENT


def test_when_every_registry_is_silent_nothing_is_current() -> None:
    registries = Registries()
    registries.silent = set(registries.tags_of)

    versions_report = online(Pins(components={"cilium": CILIUM}), registries)

    assert {component.standing for component in versions_report.components} == {
        VersionStanding.UNKNOWN
    }
    assert all(component.because for component in versions_report.components)


def test_a_chart_outside_registries_is_unknown_online() -> None:
    found = row(online(Pins(components={"crossplane": v("2.3.4")}), Registries()), "crossplane")

    assert found.standing is VersionStanding.UNKNOWN
    assert "no chart in a registry" in found.because


def test_a_registry_without_a_stable_version_is_unknown() -> None:
    registries = Registries()
    registries.tags_of[repository("cilium")] = ("latest", "1.21.0-rc.1", "1.21")

    found = row(online(Pins(components={"cilium": CILIUM}), registries), "cilium")

    assert found.standing is VersionStanding.UNKNOWN
    assert found.because == "none of the registry's 3 tags is a stable version"


def test_no_more_than_eight_registries_are_asked_at_once() -> None:
    registries = Registries()

    online(Pins(), registries)

    assert registries.most_open == 8


def test_over_real_sockets_the_charts_that_are_missing_are_unknown_and_the_others_known() -> None:
    fake = FakeRegistry(cilium=["1.20.1", "1.30.0"])

    class Rerouted:
        """Asks one fake registry for every chart."""

        def __init__(self, http: HttpRegistry) -> None:
            self.http = http

        async def tags(self, repository: str) -> tuple[str, ...]:
            return await self.http.tags(fake.address(repository.rpartition("/")[2]))

    async def ask() -> VersionsReport:
        async with fake.serving(), HttpRegistry(seconds=20) as http:
            return await report_versions(Pins(components={"cilium": CILIUM}), Rerouted(http))

    found = asyncio.run(ask())

    assert row(found, "cilium").standing is VersionStanding.BEHIND
    assert row(found, "cilium").newest == v("1.30.0")
    assert row(found, "tuppr").standing is VersionStanding.UNKNOWN
    assert "does not exist in the registry" in row(found, "tuppr").because


@pytest.mark.parametrize(
    ("tags", "newest"),
    [
        ([], None),
        (["latest", "main", "sha256-abc.sig"], None),
        (["0.9.0", "0.10.0"], "0.10.0"),
        (["v1.2.3", "1.2.4"], "1.2.4"),
        (["1.2.3", "1.3.0-beta.1"], "1.2.3"),
        (["1.2", "1.1.9"], "1.1.9"),
        (["1.2.3_build.5", "1.2.2"], "1.2.2"),
    ],
)
def test_the_newest_stable_version_is_a_full_one(tags: list[str], newest: str | None) -> None:
    assert newest_stable(tags) == (v(newest) if newest else None)


def test_the_tables_are_whole() -> None:
    known = version_tables()

    assert [one.name for one in known.about] == [
        "talos",
        "kubernetes",
        "proxmox",
        "components",
        "extensions",
    ]
    assert known.kubernetes[-1].talos == (known.talos[-1].line,)
    assert known.extensions
    assert known.proxmox


def test_the_plain_comparison_asks_nobody() -> None:
    assert compare_versions(Pins(), online=False) == offline(Pins())
