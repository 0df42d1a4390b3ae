"""Validation of a directory: files, rules, and secrets that git would keep."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from stockman.app.rendering.validation import validate
from stockman.app.workspace.directory import read_directory
from stockman.model.errors import NotFound, StockmanError
from stockman.model.problem import Severity
from tests.cli.running import clean
from tests.config.written import CLUSTER, NODES

CANARY = "canary-0b7e5f"


def directory_with(tmp_path: Path, cluster: str = CLUSTER) -> Path:
    (tmp_path / "cluster.yaml").write_text(cluster)
    (tmp_path / "nodes.yaml").write_text(NODES)
    return tmp_path


def git(directory: Path, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=directory, check=True, capture_output=True)


def test_a_right_directory_has_no_problems(tmp_path: Path) -> None:
    assert not validate(directory_with(tmp_path)).problems


@pytest.mark.parametrize(
    ("prepare", "severity"),
    [
        ([], Severity.WARNING),
        ([("init",)], Severity.ERROR),
        ([("init",), ("add", "cluster.yaml")], Severity.ERROR),
    ],
)
def test_a_literal_secret_is_refused_where_git_would_keep_it(
    tmp_path: Path, prepare: list[tuple[str, ...]], severity: Severity
) -> None:
    directory = directory_with(tmp_path, CLUSTER.replace("${PROXMOX_TOKEN}", CANARY))
    for command in prepare:
        git(directory, *command)

    (problem,) = validate(directory).problems

    assert (problem.code, problem.severity) == ("secret.exposed", severity)
    assert str(problem.where) == "cluster.yaml:11:23"
    assert CANARY not in str(problem)


def test_a_literal_secret_in_an_ignored_file_is_a_warning(tmp_path: Path) -> None:
    directory = directory_with(tmp_path, CLUSTER.replace("${PROXMOX_TOKEN}", CANARY))
    git(directory, "init")
    (directory / ".gitignore").write_text("cluster.yaml\n")

    (problem,) = validate(directory).problems

    assert problem.severity is Severity.WARNING


def test_a_directory_that_does_not_exist_is_named(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match=r"workspace\.no-directory"):
        read_directory(tmp_path / "nowhere")


def test_a_file_that_is_a_directory_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "cluster.yaml").mkdir()

    with pytest.raises(StockmanError, match=r"workspace\.unreadable"):
        read_directory(tmp_path)


PATCHES = """\
  patches:
    all:
      - machine:
          sysctl: {a: b}
      - "@./patches/a.yaml"
    controller:
      - |
        machine:
          kubelet: {extraArg: {}}
"""
TEMPLATES = "templates/config/talos/patches"


def with_patches(tmp_path: Path, **files: str) -> Path:
    directory = directory_with(tmp_path, CLUSTER + PATCHES)
    for name, text in {"patches/a.yaml": "machine:\n  x: 1\n", **files}.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return directory


def test_all_patches_that_do_not_apply_are_told_at_once(tmp_path: Path) -> None:
    found = validate(with_patches(tmp_path))

    line = CLUSTER.count("\n") + 4
    assert [(problem.code, str(problem.where)) for problem in found.problems] == [
        ("patch.field", f"cluster.yaml:{line}:11"),
        ("patch.field", f"cluster.yaml:{line + 5}:21"),
        ("patch.field", "patches/a.yaml:2:3"),
    ]
    assert set(found.texts) == {"cluster.yaml", "nodes.yaml", "patches/a.yaml"}


def test_patch_files_of_directories_are_checked_too(tmp_path: Path) -> None:
    directory = directory_with(tmp_path)
    path = directory / TEMPLATES / "global"
    path.mkdir(parents=True)
    (path / "a.yaml").write_text("machine:\n  install: {image: x}\n")
    (path / "b.yaml.j2").write_text("machine: {sysctls: {a: '#{ cluster_name }#'}}\n")

    codes = {str(problem.where): problem.code for problem in validate(directory).problems}

    assert codes == {
        f"{TEMPLATES}/global/a.yaml:2:13": "patch.owned-key",
    }


def test_other_mistakes_come_before_patches(tmp_path: Path) -> None:
    directory = with_patches(tmp_path)
    nodes = directory / "nodes.yaml"
    nodes.write_text(nodes.read_text().replace("controller: true", "controler: true"))

    codes = {problem.code for problem in validate(directory).problems}

    assert "patch.field" not in codes
    assert "config.unknown-key" in codes


def test_what_components_cannot_do_without_is_told(tmp_path: Path) -> None:
    more = "components: {proxmox-ccm: {enabled: true}, proxmox-csi: {enabled: true}}\n"
    found = validate(directory_with(tmp_path, f"{CLUSTER}{more}"))

    (problem,) = found.problems.errors
    assert problem.code == "csi.storage"
    assert str(problem.where).startswith("cluster.yaml:")


def test_problems_of_components_are_reported_beside_patches(tmp_path: Path) -> None:
    patches = "  patches: {all: [{machine: {sysctls: {vm.swappiness: '1'}}}]}\n"
    more = "components: {proxmox-ccm: {enabled: true}, proxmox-csi: {enabled: true}}\n"

    validation = validate(directory_with(tmp_path, f"{CLUSTER}{patches}{more}"))

    assert [error.code for error in validation.problems.errors] == ["csi.storage"]


def test_a_certificate_that_components_trust_must_exist(tmp_path: Path) -> None:
    more = "components: {proxmox-ccm: {enabled: true}}\nproxmox: {tls: {ca_file: pve.pem}}\n"
    directory = directory_with(tmp_path, f"{CLUSTER}{more}")

    assert [error.code for error in validate(directory).problems.errors] == ["component.authority"]
    (directory / "pve.pem").write_text("a certificate")
    assert not validate(directory).problems.errors


def test_without_patches_nothing_of_talos_is_imported(tmp_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path;"
        "from stockman.app.rendering.validation import validate;"
        f"validate(Path({str(directory_with(tmp_path))!r}));"
        "sys.exit('stockman.talos.machine.assembly' in sys.modules)"
    )

    done = subprocess.run([sys.executable, "-c", script], env=clean(), check=False)

    assert done.returncode == 0
