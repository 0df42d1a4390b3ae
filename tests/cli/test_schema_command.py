import json
from pathlib import Path

import pytest

from stockman.cli.edge import run
from stockman.cli.explain import FILES
from stockman.config.load import CONFIG_FILES as FILES_OF_THE_LANGUAGE


def test_a_schema_is_printed_raw(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["schema", "nodes.yaml"]) == 0

    printed = capsys.readouterr()
    assert json.loads(printed.out)["$id"] == "urn:stockman:schema:nodes.yaml"
    assert printed.err == ""


def test_without_a_file_it_is_the_schema_of_the_cluster(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["schema"]) == 0

    printed = capsys.readouterr()
    assert json.loads(printed.out)["$id"] == "urn:stockman:schema:cluster.yaml"
    assert "nodes.yaml" in printed.err


def test_an_unknown_file_is_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["schema", "node.yaml"]) == 64

    assert "did you mean `nodes.yaml`?" in capsys.readouterr().err


def test_all_schemas_are_written_beside_the_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["-C", str(tmp_path), "schema", "--write", ".schemas"]) == 0

    printed = capsys.readouterr()
    assert printed.out.split("\n")[0] == ".schemas/cluster.schema.json: written"
    assert "# yaml-language-server: $schema=./.schemas/nodes.schema.json" in printed.err
    assert len(list((tmp_path / ".schemas").iterdir())) == len(FILES)


def test_one_schema_can_be_written_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(["-C", str(tmp_path), "schema", "cluster.toml", "--write", "."])
    run(["-C", str(tmp_path), "schema", "cluster.toml", "--write", "."])

    assert capsys.readouterr().out.split("\n")[:2] == [
        "cluster.toml.schema.json: written",
        "cluster.toml.schema.json: up to date",
    ]
    assert [path.name for path in tmp_path.iterdir()] == ["cluster.toml.schema.json"]


def test_a_place_that_cannot_be_written_fails(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")

    assert run(["schema", "--write", str(tmp_path / "file" / "below")]) == 1

    assert "schema.unwritable" in capsys.readouterr().err


def test_the_command_takes_the_files_of_the_language() -> None:
    assert FILES == FILES_OF_THE_LANGUAGE
