"""`stockman convert` as a user runs it."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import get_args

import click
import pytest

from stockman.cli.convert import convert
from stockman.config.convert.output import SourceFormat
from tests.cli.inside import ran_inside
from tests.cli.running import REAL, Ran, ran
from tests.config.written import CLUSTER, NODES

CANARY = "canary-c0ffee"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    directory = tmp_path / "project"
    directory.mkdir()
    (directory / "cluster.yaml").write_text(CLUSTER)
    (directory / "nodes.yaml").write_text(NODES)
    return directory


def converted(directory: Path, *arguments: str) -> Ran:
    return ran_inside("-C", str(directory), "convert", *arguments)


def test_without_a_place_nothing_is_written(project: Path) -> None:
    done = converted(project, "--to", "toml")

    assert done == Ran(
        0,
        "FILE          STATE\ncluster.toml  not written\n",
        "Nothing was written. Use `--out DIR` to write files or `--stdout` to print them.\n",
    )
    assert sorted(path.name for path in project.iterdir()) == ["cluster.yaml", "nodes.yaml"]


def test_the_result_is_written_and_means_the_same(project: Path) -> None:
    done = converted(project, "--out", "../there")

    assert (done.status, done.out) == (0, "FILE          STATE\ncluster.toml  written\n")
    assert done.err == "Next: run `stockman -C ../there validate`.\n"
    text = str(project.parent / "there")
    assert ran_inside("-C", text, "validate").status == 0
    same = ran_inside("config", "diff", str(project), text)
    assert (same.status, same.out) == (0, "")


def test_what_is_not_carried_and_what_is_to_fill_in_are_listed(tmp_path: Path) -> None:
    (tmp_path / "variables.tf").write_text(
        'variable "token" {}\nvariable "nodes" { default = { a = { ip = "127.66.0.1" } } }\n'
    )

    done = converted(tmp_path, "variables.tf", "--out", "out")

    assert done.status == 0
    assert "NOT CONVERTED  WHERE             WHY\n" in done.out
    assert "token          variables.tf:1:1  it has no default value\n" in done.out
    assert "nodes[0].mac_addr is missing" in done.out
    assert "Note: comments and descriptions of variables are not carried\n" in done.out


def test_files_are_printed_on_request(project: Path) -> None:
    done = converted(project, "--stdout")

    assert (done.status, done.err) == (0, "")
    assert tomllib.loads(done.out)["cluster"] == {"name": "meadow"}


def test_two_files_are_printed_with_their_names(project: Path) -> None:
    converted(project, "--out", "../there")

    done = converted(project.parent / "there", "--stdout")

    assert done.out.startswith("# cluster.yaml\n---\ncluster_name: meadow\n")
    assert "\n# nodes.yaml\n---\nnodes:\n" in done.out


def test_printing_wins_over_the_environment(project: Path) -> None:
    arguments = ("-C", str(project), "convert", "--stdout")

    assert ran_inside(*arguments, STOCKMAN_OUTPUT="json") == converted(project, "--stdout")


def test_files_that_the_output_would_spoil_are_not_printed(project: Path) -> None:
    (project / "cluster.yaml").write_text(f"# Wiese, grün\n{CLUSTER}")
    arguments = ("-C", str(project), "convert", "--stdout")

    done = ran(*arguments, program=REAL, PYTHONIOENCODING="latin-1")

    assert (done.status, done.out) == (64, "")
    assert "# Wiese, grün" in ran_inside(*arguments).out


def test_programs_get_a_summary_without_the_content(project: Path) -> None:
    (project / "cluster.yaml").write_text(CLUSTER.replace("${PROXMOX_TOKEN}", CANARY))

    done = converted(project, "--out", "../there", "-o", "json")

    document = json.loads(done.out)
    assert (done.status, document["kind"]) == (0, "Conversion")
    assert document["data"] == {
        "source": ".",
        "from": "classic",
        "to": "toml",
        "out": "../there",
        "files": [{"name": "cluster.toml", "state": "written"}],
        "lost": [],
        "toFill": [],
        "notes": [],
        "problems": [],
    }
    assert CANARY not in done.out + done.err
    assert CANARY in (project.parent / "there" / "cluster.toml").read_text()


def test_names_of_files_are_listed_on_request(project: Path) -> None:
    assert converted(project, "-o", "name").out == "cluster.toml\n"


def test_mistakes_are_shown_and_nothing_is_written(project: Path) -> None:
    (project / "nodes.yaml").write_text(NODES.replace("vmid: 1021", "vmid: few"))

    done = converted(project, "--out", "../there")

    assert (done.status, done.out) == (1, "")
    assert done.err.startswith("error[config.value]: nodes[0].vm.vmid has a value that does")
    assert done.err.endswith("Nothing was converted. Fix the problems above first.\n")
    assert not (project.parent / "there").exists()


def test_programs_get_mistakes_in_the_envelope(project: Path) -> None:
    (project / "nodes.yaml").write_text("a: [")

    done = converted(project, "-o", "json")

    (problem,) = json.loads(done.out)["data"]["problems"]
    assert (done.status, problem["code"], done.err) == (1, "yaml.syntax", "")


def test_secrets_are_masked_in_lines_that_are_shown(project: Path) -> None:
    (project / "cluster.yaml").write_text(f"cloudflare_token: {{a: {CANARY}}}\n")

    done = converted(project)

    assert done.status == 1
    assert CANARY not in done.out + done.err


def test_an_existing_file_is_not_overwritten(project: Path) -> None:
    (project.parent / "cluster.toml").write_text("# mine\n")

    refused = converted(project, "--out", "..")
    forced = converted(project, "--out", "..", "--force")

    assert (refused.status, refused.err.splitlines()[0]) == (
        1,
        "error[convert.exists]: cluster.toml exists already",
    )
    assert (forced.status, forced.out) == (0, "FILE          STATE\ncluster.toml  replaced\n")


def test_two_dialects_side_by_side_are_pointed_out(project: Path) -> None:
    done = converted(project, "--out", ".")

    assert done.err.startswith("Also present: cluster.yaml and nodes.yaml. Keep one dialect")


@pytest.mark.parametrize(
    "arguments",
    [
        ("--to", "classic"),
        ("--to", "yaml"),
        ("--stdout", "--out", "."),
        ("--stdout", "-o", "json"),
        ("no-such-file",),
    ],
)
def test_what_does_not_go_together_is_wrong_usage(
    project: Path, arguments: tuple[str, ...]
) -> None:
    done = converted(project, *arguments)

    assert (done.status, done.out) == (64, "")
    assert done.err


def test_a_directory_is_not_a_file_of_another_tool(project: Path) -> None:
    done = converted(project, "--from", "vm")

    assert (done.status, done.err.splitlines()[0]) == (
        1,
        "error[config.no-files]: there is nothing here to convert",
    )


def test_every_form_can_be_named_and_no_other() -> None:
    option = next(param for param in convert.params if param.name == "form")

    assert isinstance(option.type, click.Choice)
    assert tuple(option.type.choices) == get_args(SourceFormat)
