"""`stockman render` as people run it."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from tests.cli.inside import ran_inside
from tests.cli.running import REAL, Ran, ran

ENTRY = "kubernetes/flux/cluster/ks.yaml"

AS_ANYBODY = (
    ("setpriv", "--bounding-set=-dac_override,-dac_read_search,-fowner", "--inh-caps=-all")
    if os.geteuid() == 0
    else ()
)
"""Permissions count for root too."""


@pytest.fixture(scope="module")
def rendered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    mktemp = tmp_path_factory.mktemp("rendered")
    assert ran_inside("init", str(mktemp), "--preset", "single").status == 0
    assert render(mktemp).status == 0
    return mktemp


@pytest.fixture
def directory(rendered: Path, tmp_path: Path) -> Path:
    shutil.copytree(rendered, tmp_path / "place")
    return tmp_path / "place"


def render(directory: Path, *arguments: str) -> Ran:
    return ran_inside("-C", str(directory), "render", *arguments, HOME=str(directory.parent))


def test_a_second_run_has_nothing_to_do(directory: Path) -> None:
    done = render(directory)

    assert (done.status, done.out) == (0, "")
    assert "0 changed, 0 need a decision" in done.err


@pytest.mark.parametrize("option", ["--check", "--diff"])
def test_a_change_is_told_and_not_made(directory: Path, option: str) -> None:
    (directory / ENTRY).unlink()

    done = render(directory, option)

    assert done.status == 2
    assert f"+ {ENTRY}" in done.out
    assert not (directory / ENTRY).exists()


def test_an_edit_is_shown_with_its_difference_until_it_is_decided(directory: Path) -> None:
    with (directory / ENTRY).open("a") as file:
        file.write("# mine\n")

    told = render(directory)
    accepted = render(directory, "--accept", f"./{ENTRY}")

    assert told.status == 4
    assert f"! {ENTRY}" in told.out
    assert "    -# mine" in told.out
    assert accepted.status == 0
    assert render(directory).out == ""


def test_a_long_difference_is_cut_and_diff_shows_all(directory: Path) -> None:
    (directory / ENTRY).write_text("".join(f"# line {number}\n" for number in range(100)))

    told, whole = render(directory), render(directory, "--diff")

    assert "more lines; use --diff to show all" in told.out
    assert "# line 99" not in told.out
    assert "# line 99" in whole.out


def test_values_of_secret_files_are_not_shown(directory: Path) -> None:
    path = "bootstrap/sops-age.sops.yaml"
    (directory / path).write_text("canary: 1\n")

    done = render(directory, "--diff")

    assert "values are not shown" in done.out
    assert "canary" not in done.out + done.err


@pytest.mark.parametrize("option", ["--overwrite", "--accept"])
def test_a_decision_about_nothing_is_wrong_usage(directory: Path, option: str) -> None:
    done = render(directory, option, "kubernetes/flux/clusters/ks.yaml")

    assert done.status == 64
    assert f"did you mean {ENTRY}?" in done.err


def test_json_lists_actions_with_components(directory: Path) -> None:
    (directory / ENTRY).unlink()

    data = json.loads(render(directory, "--check", "-o", "json").out)

    assert data["kind"] == "Rendering"
    assert {"path": ENTRY, "action": "create", "component": "repository"} in data["data"]["files"]


def test_names_are_those_of_changed_files(directory: Path) -> None:
    (directory / ENTRY).unlink()

    assert render(directory, "-o", "name").out == f"{ENTRY}\n"


def test_the_tree_names_every_file_with_its_component(directory: Path) -> None:
    done = render(directory, "--tree")

    assert done.status == 0
    lines = dict(line.split("  ") for line in done.out.splitlines())
    assert lines["kubernetes/apps/kube-system/cilium/ks.yaml"] == "cilium"
    assert lines[ENTRY] == "repository"
    assert all((directory / path).is_file() for path in lines)


def test_a_component_that_is_off_goes_with_prune(directory: Path) -> None:
    with (directory / "cluster.yaml").open("a") as file:
        file.write("components: {echo: {enabled: false}}\n")

    kept, pruned = render(directory), render(directory, "--prune")

    assert kept.status == 0
    assert "? kubernetes/apps/default/echo/ks.yaml" in kept.out
    assert "- kubernetes/apps/default/echo/ks.yaml" in pruned.out
    assert not (directory / "kubernetes/apps/default").exists()


def test_a_directory_without_a_configuration_says_so(tmp_path: Path) -> None:
    done = render(tmp_path)

    assert done.status == 1
    assert "there is no configuration here" in done.err


def test_every_mistake_is_told_with_its_line(directory: Path) -> None:
    with (directory / "cluster.yaml").open("a") as file:
        file.write("wrong_one: 1\nwrong_two: 2\n")

    done = render(directory)

    assert done.status == 1
    assert "wrong_one" in done.err
    assert "wrong_two" in done.err
    data = json.loads(render(directory, "-o", "json").out)["data"]
    assert [problem["code"] for problem in data["problems"]] == ["config.unknown-key"] * 2
    assert data["files"] == []


def test_a_tree_that_may_not_be_written_stays_as_it_is(directory: Path) -> None:
    (directory / ENTRY).unlink()
    (directory / ENTRY).parent.chmod(0o500)

    done = ran(
        "-C", str(directory), "render", program=(*AS_ANYBODY, *REAL), HOME=str(directory.parent)
    )

    assert done.status == 1
    assert "error[render.unwritable]" in done.err
    assert f"where: {ENTRY}" in done.err
    assert sorted(path.name for path in (directory / ".stockman").iterdir()) == [
        "rendered.lock",
        "secrets.lock",
    ]


def test_guests_without_a_cluster_need_no_files(tmp_path: Path) -> None:
    path = tmp_path / "home"
    assert ran_inside("init", str(path), "--preset", "home").status == 0

    done = render(path)

    assert (done.status, done.out) == (0, "")
    assert "warning[render.no-cluster]" in done.err
    assert "continue with `stockman plan`" in done.err
    assert not (path / ".stockman/rendered.lock").exists()


def test_nothing_is_written_without_an_identity(directory: Path) -> None:
    (directory / "age.key").unlink()
    (directory / ENTRY).unlink()

    written = render(directory)
    compared = render(directory, "--check")

    assert written.status == 1
    assert "error[key.none]" in written.err
    assert not (directory / ENTRY).exists()
    assert compared.status == 2
