"""What the tables say, and what follows from it."""

import json
import re
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stockman.model import compatibility, component, tables
from stockman.model import compatibility as extensions
from stockman.model.compatibility import Verdict
from stockman.model.version import Version

v = Version.parse


@pytest.mark.parametrize("name", tables.TABLE_NAMES)
def test_every_table_has_an_owner_and_a_refresh_date_and_a_source(name: str) -> None:
    about = tables.table_info(name)

    assert about.owner
    assert re.fullmatch(r"20\d\d-\d\d-\d\d", about.refreshed)
    assert all(about.source)


@pytest.mark.parametrize("name", tables.TABLE_NAMES)
def test_rows_are_in_order_and_none_comes_twice(name: str) -> None:
    rows = tables.read_table(name)["rows"]
    keys = [row["name"] if "name" in row else v(row["line"]) for row in rows]

    assert keys == sorted(set(keys))


@pytest.mark.parametrize("line", compatibility.talos_lines(), ids=lambda one: str(one.line))
def test_a_line_of_talos_runs_its_default_kubernetes(line: compatibility.TalosLine) -> None:
    assert (
        compatibility.kubernetes_compatibility(line.newest, line.kubernetes_default).verdict
        is Verdict.OK
    )


@pytest.mark.parametrize("line", compatibility.talos_lines(), ids=lambda one: str(one.line))
def test_a_line_of_talos_can_be_installed_over_itself(line: compatibility.TalosLine) -> None:
    oldest, too_new = line.installs_over

    assert oldest < line.line < line.newest < too_new


def test_every_kubernetes_that_some_talos_runs_has_a_row_and_no_other() -> None:
    run = [line.kubernetes for line in compatibility.talos_lines()]
    minors = range(run[0][0].minor, run[-1][1].minor + 1)

    assert [kubernetes_line.line.line for kubernetes_line in compatibility.kubernetes_lines()] == [
        (1, n) for n in minors
    ]


def test_the_newest_patch_belongs_to_its_line() -> None:
    assert all(
        talos_line.newest.line == talos_line.line.line for talos_line in compatibility.talos_lines()
    )
    assert all(
        kubernetes_line.newest.line == kubernetes_line.line.line
        for kubernetes_line in compatibility.kubernetes_lines()
    )


@pytest.mark.parametrize(
    ("talos", "verdict"),
    [
        ("1.10.9", Verdict.REFUSED),
        ("1.11", Verdict.OK),
        ("1.11.0", Verdict.OK),
        ("v1.14.1", Verdict.OK),
        ("1.14.0-rc.1", Verdict.OK),
        ("1.13.99", Verdict.NEWER),
        ("1.15.0-alpha.0", Verdict.REFUSED),
        ("2.0.0", Verdict.REFUSED),
    ],
)
def test_a_newer_patch_of_talos_is_newer_and_a_newer_line_is_refused(
    talos: str, verdict: Verdict
) -> None:
    assert compatibility.talos_compatibility(v(talos)).verdict is verdict


def test_a_refused_talos_is_told_which_are_supported() -> None:
    assert (
        compatibility.talos_compatibility(v("1.8.0")).reason
        == "stockman supports Talos 1.11 to 1.14"
    )


def test_a_newer_patch_is_told_what_is_known_and_since_when() -> None:
    because = compatibility.talos_compatibility(v("1.13.99")).reason

    assert because == (
        "the newest Talos 1.13 that stockman knows is"
        f" {compatibility.newest_known_patch(v('1.13'))}"
        f" ({tables.table_info('talos').refreshed})"
    )


@pytest.mark.parametrize(
    ("talos", "kubernetes", "verdict"),
    [
        ("1.11.5", "1.28.15", Verdict.REFUSED),
        ("1.11.5", "1.29.0", Verdict.OK),
        ("1.11.5", "1.34", Verdict.OK),
        ("1.11.5", "1.35.0-rc.0", Verdict.REFUSED),
        ("1.12.1", "1.35.0", Verdict.OK),
        ("1.12.1", "1.35.98", Verdict.NEWER),
        ("1.12.1", "1.36.0", Verdict.REFUSED),
        ("1.13.9", "1.31.0-rc.1", Verdict.OK),
        ("1.14.1", "1.37.0", Verdict.OK),
        ("1.14.1", "1.38.0", Verdict.REFUSED),
        ("1.10.0", "1.33.0", Verdict.REFUSED),
        ("1.15.0", "1.37.0", Verdict.REFUSED),
    ],
)
def test_kubernetes_is_judged_by_the_talos_it_runs_on(
    talos: str, kubernetes: str, verdict: Verdict
) -> None:
    assert compatibility.kubernetes_compatibility(v(talos), v(kubernetes)).verdict is verdict


def test_a_refused_kubernetes_is_told_the_range() -> None:
    fit = compatibility.kubernetes_compatibility(v("1.12.0"), v("1.36.0"))

    assert fit.reason == "Talos 1.12 runs Kubernetes 1.30 to 1.35"


def test_what_code_accepts_and_documentation_does_not_list_is_ok_with_a_word() -> None:
    fit = compatibility.kubernetes_compatibility(v("1.14.0"), v("1.32.0"))

    assert fit.verdict is Verdict.OK
    assert "though its documentation lists 1.33 to 1.37" in fit.reason


@pytest.mark.parametrize(
    ("proxmox", "verdict", "because"),
    [
        ("7.4", Verdict.REFUSED, "supports Proxmox VE 8.4, 9.0, 9.1 and 9.2"),
        ("8.0", Verdict.REFUSED, "no `import` content"),
        ("8.2.4", Verdict.REFUSED, "no `import` content"),
        ("8.3", Verdict.REFUSED, "OVA archives only"),
        ("8.4", Verdict.OK, "Proxmox VE 8.4 is supported"),
        ("8.4.14", Verdict.OK, "Proxmox VE 8.4 is supported"),
        ("8.5", Verdict.NEWER, "the newest Proxmox VE 8 that stockman knows is 8.4"),
        ("9.0.3", Verdict.OK, "Proxmox VE 9.0 is supported"),
        ("9.77", Verdict.NEWER, "the newest Proxmox VE 9 that stockman knows is 9.2"),
        ("10.0", Verdict.REFUSED, "supports Proxmox VE 8.4"),
    ],
)
def test_proxmox_is_supported_from_8_4_on(proxmox: str, verdict: Verdict, because: str) -> None:
    fit = compatibility.proxmox_compatibility(v(proxmox))

    assert fit.verdict is verdict
    assert because in fit.reason


versions = st.builds(Version, st.integers(0, 20), st.integers(0, 50), st.integers(0, 200))


@given(talos=versions, kubernetes=versions)
def test_every_pair_gets_a_verdict_and_a_reason(talos: Version, kubernetes: Version) -> None:
    assert compatibility.talos_compatibility(talos).reason
    assert compatibility.kubernetes_compatibility(talos, kubernetes).reason
    assert compatibility.proxmox_compatibility(talos).reason


@given(line=st.sampled_from(compatibility.talos_lines()), patch=st.integers(0, 10_000))
def test_no_patch_of_a_supported_line_is_ever_refused(
    line: compatibility.TalosLine, patch: int
) -> None:
    talos = Version(line.line.major, line.line.minor, patch)

    assert compatibility.talos_compatibility(talos).verdict is not Verdict.REFUSED


def test_the_range_of_an_unknown_talos_is_unknown() -> None:
    assert compatibility.kubernetes_range(v("1.9.0")) is None
    assert compatibility.newest_known_patch(v("1.9.0")) is None
    assert compatibility.kubernetes_range(v("1.12.3")) == (v("1.30"), v("1.35"))


@pytest.mark.parametrize("one", component.all_component_facts(), ids=lambda one: one.name)
def test_a_component_is_described_whole_and_readable(one: component.ComponentFacts) -> None:
    assert re.fullmatch(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?", one.name)
    assert re.fullmatch(r"(oci|https)://[^/]+(/[^/]+)*|", one.repository)
    assert bool(one.chart) == bool(one.repository)
    assert set(one.needs) <= {"talos", "kubernetes", "proxmox"}
    assert one.version is None or one.version.patch is not None


def test_a_chart_in_a_registry_is_the_last_part_of_its_address() -> None:
    published = [
        all_component_fact
        for all_component_fact in component.all_component_facts()
        if all_component_fact.repository.startswith("oci://")
    ]

    assert all(one.repository.endswith(f"/{one.chart}") for one in published)


def test_a_component_is_found_by_its_name_and_by_its_chart() -> None:
    assert component.find_component_facts("proxmox-csi") == component.find_component_facts(
        "proxmox-csi-plugin"
    )
    assert component.find_component_facts("proxmox-csi") is not None
    assert component.find_component_facts("sendmail") is None


def test_a_component_is_refused_where_its_needs_are_not_met() -> None:
    known = component.find_component_facts("karpenter")
    assert known is not None

    fit = component.component_compatibility(known, {"kubernetes": v("1.29.4"), "proxmox": v("8.4")})

    assert fit.verdict is Verdict.REFUSED
    assert fit.reason == "karpenter needs Kubernetes 1.30 or newer, not 1.29.4"


def test_a_kubernetes_newer_than_a_component_is_tested_with_is_newer() -> None:
    known = component.find_component_facts("rook-ceph")
    assert known is not None

    fit = component.component_compatibility(known, {"kubernetes": v("1.37.0")})

    assert fit.verdict is Verdict.NEWER
    assert fit.reason == "rook-ceph is tested with Kubernetes 1.31 to 1.36, not 1.37.0"


def test_a_component_is_not_judged_by_what_is_not_known() -> None:
    known = component.find_component_facts("karpenter")
    assert known is not None

    assert component.component_compatibility(known, {"kubernetes": None}).verdict is Verdict.OK


@pytest.mark.parametrize("one", extensions.extensions(), ids=lambda one: one.name)
def test_an_extension_is_one_that_some_supported_talos_has(one: extensions.TalosExtension) -> None:
    newest = compatibility.talos_lines()[-1].newest

    assert one.name.startswith("siderolabs/")
    assert one.purpose
    assert extensions.extension_compatibility(one.name, newest).verdict is Verdict.OK


@pytest.mark.parametrize(
    ("name", "talos", "verdict", "because"),
    [
        ("qemu-guest-agent", "1.11.0", Verdict.OK, "since 1.5.0"),
        ("nfs-utils", "1.12.0", Verdict.OK, "since 1.12.0"),
        ("nfs-utils", "1.11.6", Verdict.REFUSED, "exists since Talos 1.12.0, not in 1.11.6"),
        ("i915-ucode", "1.12.0", Verdict.REFUSED, "siderolabs/i915 took its place"),
        ("mellanox-ofed", "1.12.0", Verdict.REFUSED, "last Talos with siderolabs/mellanox-ofed"),
        ("time-machine", "1.12.0", Verdict.NEWER, "not in the table of 20"),
    ],
)
def test_an_extension_is_judged_by_the_talos_it_is_for(
    name: str, talos: str, verdict: Verdict, because: str
) -> None:
    fit = extensions.extension_compatibility(f"siderolabs/{name}", v(talos))

    assert fit.verdict is verdict
    assert because in fit.reason


def test_gone_extensions_name_what_exists_instead() -> None:
    known = {extension.name for extension in extensions.extensions()}
    gone = extensions.removed_extensions()

    assert known.isdisjoint(one.name for one in gone)
    assert all(known.issuperset(one.replacements) for one in gone)


def test_tables_are_plain_json_of_their_own() -> None:
    for name in tables.TABLE_NAMES:
        assert json.loads(json.dumps(tables.read_table(name))) == tables.read_table(name)


def test_judging_versions_imports_nothing_large() -> None:
    script = (
        "import sys; from stockman.model import compatibility as s;"
        "s.kubernetes_compatibility(s.Version(1, 12, 0), s.Version(1, 35, 0));"
        "s.proxmox_compatibility(s.Version(9, 1));"
        "print(*{'importlib.resources', 'pathlib', 'pkgutil', 'dataclasses', 'asyncio'}"
        " & set(sys.modules))"
    )

    done = subprocess.run(
        [sys.executable, "-S", "-c", f"import sys; sys.path[:] = {sys.path!r}; {script}"],
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stdout.strip() == ""
