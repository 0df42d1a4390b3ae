"""`stockman config migrate` as a user runs it."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from stockman.talos.patches.apply import load_documents
from tests.cli.inside import ran_inside
from tests.config.written import CLUSTER, NODES

NODE = """\
version: v1alpha1
machine:
  type: worker
  token: grazing
  sysctls:
    vm.nr_hugepages: "1024"
  network:
    hostname: work-9
"""
PATCHES = """\
talos_contract: "1.12"
talos:
  extensions: [siderolabs/qemu-guest-agent]
  patches:
    all:
      - machine:
          sysctls: {vm.nr_hugepages: "1024"}
"""


@pytest.fixture
def node(tmp_path: Path) -> Path:
    (tmp_path / "work-9.yaml").write_text(NODE)
    return tmp_path / "work-9.yaml"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    lines = [line for line in CLUSTER.splitlines() if not line.startswith(("talos:", "  ext"))]
    (tmp_path / "cluster.yaml").write_text("\n".join(lines) + "\n" + PATCHES)
    (tmp_path / "nodes.yaml").write_text(NODES)
    return tmp_path


def test_every_edit_has_its_reason_and_its_contract(node: Path) -> None:
    done = ran_inside("config", "migrate", "--to", "1.14", str(node))

    assert done.status == 2
    assert done.out == (
        f"{node}\n"
        "  the hostname moves to HostnameConfig (1.12)\n"
        f"    - v1alpha1 machine.network.hostname: work-9  ({node}:8:15)\n"
        "    + HostnameConfig:\n"
        "        hostname: work-9\n"
        '        auto: "off"\n'
        "  sysctls moves to SysctlConfig (1.14)\n"
        f"    - v1alpha1 machine.sysctls:  ({node}:6:5)\n"
        '        vm.nr_hugepages: "1024"\n'
        "    + SysctlConfig:\n"
        "        params:\n"
        '          vm.nr_hugepages: "1024"\n'
    )


def test_programs_get_the_edits(node: Path) -> None:
    done = ran_inside("config", "migrate", "--to", "1.12", str(node), "-o", "json")

    data = json.loads(done.out)["data"]
    (place,) = data["parts"]
    assert (data["source"], data["target"]) == ("1.11", "1.12")
    assert place["edits"][0]["path"] == "machine.network.hostname"
    assert place["edits"][0]["since"] == "1.12"


def test_the_new_configuration_is_written_beside_the_old_one(node: Path) -> None:
    done = ran_inside("config", "migrate", "--to", "1.14", str(node), "--write")

    made = node.with_name("work-9.1.14.yaml")
    assert done.status == 0
    assert stat.S_IMODE(made.stat().st_mode) == 0o600
    assert node.read_text() == NODE
    kinds = [
        config_document.kind.name
        for config_document in load_documents("made", made.read_text(), "1.14")
    ]
    assert kinds == ["v1alpha1", "HostnameConfig", "SysctlConfig"]


def test_a_file_that_is_there_is_not_replaced(node: Path) -> None:
    node.with_name("work-9.1.14.yaml").write_text("")

    done = ran_inside("config", "migrate", "--to", "1.14", str(node), "--write")

    assert done.status == 1
    assert "error[private-file.exists]" in done.err


def test_nothing_to_do_is_said(node: Path) -> None:
    done = ran_inside("config", "migrate", "--to", "1.11", str(node))

    assert (done.status, done.out) == (0, "")
    assert "No changes for contract 1.11" in done.err


def test_a_newer_configuration_does_not_go_back(node: Path) -> None:
    node.write_text(NODE + "---\napiVersion: v1alpha1\nkind: SysctlConfig\nparams: {a.b: '1'}\n")

    done = ran_inside("config", "migrate", "--to", "1.12", str(node))

    assert done.status == 3
    assert "error[migration.downward]" in done.err


def test_patches_of_a_directory_are_named_by_their_lines(project: Path) -> None:
    done = ran_inside("-C", str(project), "config", "migrate", "--to", "1.13")
    further = ran_inside("-C", str(project), "config", "migrate", "--to", "1.14")

    assert done.status == further.status == 2
    assert "talos_contract: 1.13" in done.out
    assert "SysctlConfig" not in done.out
    line = (
        (project / "cluster.yaml")
        .read_text()
        .splitlines()
        .index('          sysctls: {vm.nr_hugepages: "1024"}')
    )
    assert f"(cluster.yaml:{line + 1}:20)" in further.out
    assert "patch after migration:\n    apiVersion: v1alpha1\n    kind: SysctlConfig" in further.out


def test_options_of_files_need_a_file(project: Path) -> None:
    done = ran_inside("-C", str(project), "config", "migrate", "--to", "1.14", "--write")

    assert done.status == 64


def test_patches_in_files_of_the_template_directories_are_seen_too(project: Path) -> None:
    path = project / "templates/config/talos/patches/global"
    path.mkdir(parents=True)
    (path / "sysctls.yaml.j2").write_text('machine:\n  sysctls:\n    vm.swappiness: "1"\n')

    done = ran_inside("-C", str(project), "config", "migrate", "--to", "1.14")

    assert "templates/config/talos/patches/global/sysctls.yaml.j2" in done.out
