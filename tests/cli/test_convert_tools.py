"""`stockman convert talhelper` and `stockman convert topf` as a user runs them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.inside import ran_inside
from tests.cli.running import Ran
from tests.talos.imports.directories import large, small, template, written
from tests.talos.imports.topf_directories import meadow

SET = (
    *("--set", "cluster_gateway_addr=127.66.0.11"),
    *("--set", "cluster_dns_gateway_addr=127.66.0.12"),
    *("--set", "repository_name=example/meadow"),
)
SEALED = "ENC[AES256_GCM,data:eA==,iv:eA==,tag:eA==,type:str]"
BUNDLE = f"cluster: {{id: '{SEALED}'}}\nsops: {{mac: x}}\n"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    written({**template("1.13"), "talsecret.sops.yaml": BUNDLE}, tmp_path / "talos")
    return tmp_path


def converted(directory: Path, *arguments: str) -> Ran:
    return ran_inside("-C", str(directory), "convert", *arguments)


def test_a_directory_of_talhelper_is_taken_over_and_valid(repository: Path) -> None:
    done = converted(repository, "talhelper", "talos", "--out", "mine", *SET)

    assert done.status == 0
    assert done.out.startswith(
        "FILE                       STATE\n"
        "cluster.yaml               written\n"
        "nodes.yaml                 written\n"
        "talos/talsecret.sops.yaml  written\n"
    )
    assert "MACHINE DIFFERENCE" in done.out
    assert done.err.startswith("\nwarning[import.metal-installer]: cp-1, work-1: ")
    assert done.err.endswith("Next: run `stockman -C mine validate`.\n")
    assert ran_inside("-C", str(repository / "mine"), "validate").status == 0
    assert (repository / "mine/talos/talsecret.sops.yaml").read_text() == BUNDLE


def test_a_bundle_that_has_its_place_already_stays_there(repository: Path) -> None:
    done = converted(repository, "talhelper", "talos", "--out", ".", *SET)

    assert "talos/talsecret.sops.yaml  up to date\n" in done.out


def test_the_other_dialect_is_written_on_request(repository: Path) -> None:
    done = converted(repository, "talhelper", "talos", "--dialect", "toml", "--out", "mine", *SET)

    assert done.status == 0
    assert (repository / "mine/talos/secrets.sops.yaml").read_text() == BUNDLE
    assert ran_inside("-C", str(repository / "mine"), "validate").status == 0


@pytest.mark.parametrize("texts", [(), ("--out", "mine", "--dry-run")])
def test_without_a_place_or_with_a_dry_run_nothing_is_written(
    repository: Path, texts: tuple[str, ...]
) -> None:
    done = converted(repository, "talhelper", "talos", *texts)

    assert done.status == 0
    assert "cluster.yaml               not written\n" in done.out
    assert "cluster_gateway_addr is missing" in done.out
    assert sorted(path.name for path in repository.iterdir()) == ["talos"]


def test_what_stands_in_the_way_is_not_overwritten(repository: Path) -> None:
    (repository / "nodes.yaml").write_text("# mine\n")

    refused = converted(repository, "talhelper", "talos", "--out", ".")

    assert (refused.status, refused.err.splitlines()[0]) == (
        1,
        "error[convert.exists]: nodes.yaml exists already",
    )
    assert not (repository / "cluster.yaml").exists()


def test_programs_get_every_key_and_every_difference(repository: Path) -> None:
    done = converted(repository, "talhelper", "talos", *SET, "-o", "json")

    data = json.loads(done.out)["data"]
    assert (data["from"], data["to"], data["toFill"]) == ("talhelper", "classic", [])
    assert data["keys"][0] == {
        "key": "clusterName",
        "file": "talconfig.yaml",
        "line": 1,
        "column": 1,
        "state": "taken",
        "how": "cluster.name",
    }
    assert data["differences"][0] == {
        "nodes": ["cp-1"],
        "what": "Layer2VIPConfig 127.66.0.10 link",
        "before": "ethSel0",
        "after": "net0",
        "why": "the node's link is named net0",
    }
    assert [problem["code"] for problem in data["problems"]] == ["import.metal-installer"]


def test_the_tool_is_known_by_the_file_that_is_there(repository: Path) -> None:
    by_directory = converted(repository, "talos", "-o", "name")
    by_file = converted(repository, "talos/talconfig.yaml", "-o", "name")
    inside = converted(repository / "talos", "talhelper", "-o", "name")

    assert by_directory == by_file == inside
    assert by_directory.out == "cluster.yaml\nnodes.yaml\ntalos/talsecret.sops.yaml\n"


def test_a_directory_of_topf_is_taken_over_and_valid(tmp_path: Path) -> None:
    written(meadow("1.13"), tmp_path / "talos")

    done = converted(tmp_path, "topf", "talos", "--out", "mine", *SET)

    assert done.status == 0
    assert ran_inside("-C", str(tmp_path / "mine"), "validate").status == 0


def test_mistakes_are_shown_and_nothing_is_written(tmp_path: Path) -> None:
    written({"talconfig.yaml": "clusterName: ${name}\n"}, tmp_path)

    done = converted(tmp_path, "talhelper", ".", "--out", "mine")

    assert (done.status, done.out) == (1, "")
    assert done.err.splitlines()[0] == "error[import.variable]: the variable name has no value"
    assert not (tmp_path / "mine").exists()


def test_a_variable_is_given_on_the_command_line(tmp_path: Path) -> None:
    files = small("1.13")
    written({"talconfig.yaml": files["talconfig.yaml"].replace("meadow", "${name}")}, tmp_path)

    done = converted(tmp_path, "talhelper", ".", "--variable", "name=pasture", "--stdout")

    assert "cluster_name: pasture\n" in done.out


def test_the_report_of_a_large_directory_names_what_is_left_out(tmp_path: Path) -> None:
    files = large("1.13")
    files["talconfig.yaml"] += "nosuchkey: 1\n"
    written(files, tmp_path)

    done = converted(tmp_path, "talhelper", ".", *SET)

    assert any("nosuchkey" in line and "left out" in line for line in done.out.splitlines())


@pytest.mark.parametrize(
    "arguments",
    [
        ("nothing", "talos"),
        ("talhelper", "talos", "more"),
        ("talhelper", "nowhere"),
        ("talhelper", "talos", "--from", "topf"),
        ("talhelper", "talos", "--set", "nothing"),
        ("talhelper", "talos", "--set", "nosuchkey=1"),
        ("talhelper", "talos", "--platform", "cloud"),
        ("talos/talenv.yaml", "--variable", "a=b"),
    ],
)
def test_what_does_not_go_together_is_wrong_usage(
    repository: Path, arguments: tuple[str, ...]
) -> None:
    done = converted(repository, *arguments)

    assert (done.status, done.out) == (64, "")
    assert done.err


def test_a_directory_without_its_file_is_told(tmp_path: Path) -> None:
    done = converted(tmp_path, "topf", ".")

    assert (done.status, done.err.splitlines()[0]) == (
        1,
        "error[import.missing-file]: topf.yaml does not exist",
    )
