import json
from pathlib import Path

import pytest

from stockman.app.schemas import schema_text, write_schemas
from stockman.model.errors import StockmanError


def test_the_text_of_a_schema_is_json() -> None:
    assert json.loads(schema_text("nodes.yaml"))["$id"] == "urn:stockman:schema:nodes.yaml"


def test_schemas_are_written_with_the_line_that_lets_editors_find_them(tmp_path: Path) -> None:
    written = write_schemas(tmp_path, tmp_path / ".schemas")

    assert [(one.path.name, one.line) for one in written] == [
        (
            "cluster.schema.json",
            "# yaml-language-server: $schema=./.schemas/cluster.schema.json",
        ),
        ("nodes.schema.json", "# yaml-language-server: $schema=./.schemas/nodes.schema.json"),
        ("cluster.toml.schema.json", "#:schema ./.schemas/cluster.toml.schema.json"),
    ]
    assert all(json.loads(one.path.read_text()) for one in written)


def test_a_schema_outside_of_the_directory_is_named_in_full(tmp_path: Path) -> None:
    (written,) = write_schemas(tmp_path / "cluster", tmp_path, ["nodes.yaml"])

    assert written.line == f"# yaml-language-server: $schema={tmp_path}/nodes.schema.json"


def test_writing_twice_changes_the_files_once(tmp_path: Path) -> None:
    first = write_schemas(tmp_path, tmp_path)
    second = write_schemas(tmp_path, tmp_path)

    assert [one.changed for one in first] == [True, True, True]
    assert [one.changed for one in second] == [False, False, False]


def test_a_directory_that_cannot_be_made_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(StockmanError) as caught:
        write_schemas(tmp_path, tmp_path / "file" / "schemas")

    assert caught.value.problem.code == "schema.unwritable"
    assert str(tmp_path / "file") in str(caught.value.problem.where)
