"""Converting files of a directory, and writing the result."""

from __future__ import annotations

from pathlib import Path

import pytest

from stockman.app.conversion.convert import (
    Conversion,
    ConvertedFile,
    FileState,
    convert_files,
    leftover_files,
    unwritten_files,
    write_conversion,
)
from stockman.config.convert.output import SourceFormat, detect_format
from stockman.model.errors import Conflict, NotFound, StockmanError, WrongUsage
from tests.app.start_doors import CountingDice
from tests.config.written import CLUSTER, NODES

TOML = '[cluster]\nname = "meadow"\n'
VM = "talos_one: {id: 1030, name: one, node: pve-a, ip: 127.66.0.16}\n"
TERRAFORM = 'variable "talos_version" { default = "1.13.9" }\n'


@pytest.fixture
def project(tmp_path: Path) -> Path:
    directory = tmp_path / "project"
    directory.mkdir()
    (directory / "cluster.yaml").write_text(CLUSTER)
    (directory / "nodes.yaml").write_text(NODES)
    return directory


def written(
    conversion: Conversion, out: Path, *, force: bool = False
) -> list[tuple[str, FileState]]:
    files = write_conversion(conversion, out, CountingDice(), force=force)
    return [(file.name, file.state) for file in files]


def code_of(error: pytest.ExceptionInfo[StockmanError]) -> str:
    return error.value.problem.code


def test_a_directory_becomes_the_other_dialect(project: Path) -> None:
    conversion = convert_files(project)

    assert (conversion.form, conversion.to, list(conversion.result.files)) == (
        "classic",
        "toml",
        ["cluster.toml"],
    )


def test_the_way_back_starts_from_a_directory_with_toml(tmp_path: Path) -> None:
    (tmp_path / "cluster.toml").write_text(TOML)

    back = convert_files(tmp_path)

    assert (back.form, back.to) == ("toml", "classic")
    assert list(back.result.files) == ["cluster.yaml", "nodes.yaml"]


@pytest.mark.parametrize("name", ["cluster.yaml", "nodes.yaml"])
def test_one_classic_file_stands_for_both(project: Path, name: str) -> None:
    assert convert_files(project / name).result == convert_files(project).result


@pytest.mark.parametrize(
    ("name", "text", "form"),
    [
        ("vm.yml", VM, "vm"),
        ("machines.yaml", VM, "vm"),
        ("variables.tf", TERRAFORM, "terraform"),
        ("home.auto.tfvars", 'talos_version = "1.13.9"\n', "terraform"),
        ("other.toml", TOML, "toml"),
    ],
)
def test_files_of_other_names_and_tools_are_known(
    tmp_path: Path, name: str, text: str, form: SourceFormat
) -> None:
    (tmp_path / name).write_text(text)

    conversion = convert_files(tmp_path / name)

    assert (conversion.form, conversion.to) == (form, "classic")
    assert not conversion.result.problems
    assert list(conversion.result.files) == ["cluster.yaml", "nodes.yaml"]


def test_the_form_may_be_given(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text(CLUSTER)

    assert list(convert_files(tmp_path / "mine.txt", form="classic").result.files) == [
        "cluster.toml"
    ]


def test_a_yaml_file_with_a_mistake_is_told_where_it_is() -> None:
    assert detect_format("vm.yml", b"a: [") == "vm"
    assert detect_format("cluster.yaml", b"a: [") == "classic"


def test_a_file_that_is_none_of_these_is_refused(tmp_path: Path) -> None:
    (tmp_path / "values.yaml").write_text("replicas: 3\n")

    with pytest.raises(WrongUsage) as caught:
        convert_files(tmp_path / "values.yaml")

    assert code_of(caught) == "convert.unknown-form"


def test_a_directory_with_both_dialects_has_to_be_told_which(project: Path) -> None:
    (project / "cluster.toml").write_text(TOML)

    with pytest.raises(WrongUsage) as caught:
        convert_files(project)

    assert code_of(caught) == "config.two-dialects"
    assert list(convert_files(project, form="toml").result.files) == ["cluster.yaml", "nodes.yaml"]
    assert list(convert_files(project, form="classic").result.files) == ["cluster.toml"]


def test_a_directory_without_configuration_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NotFound) as caught:
        convert_files(tmp_path)

    assert code_of(caught) == "config.no-files"


def test_a_dialect_is_not_converted_into_itself(project: Path) -> None:
    with pytest.raises(WrongUsage) as caught:
        convert_files(project, to="classic")

    assert code_of(caught) == "convert.same-dialect"


def test_files_of_other_tools_may_become_either_dialect(tmp_path: Path) -> None:
    (tmp_path / "vm.yml").write_text(VM)

    assert list(convert_files(tmp_path / "vm.yml", to="toml").result.files) == ["cluster.toml"]


def test_a_file_that_cannot_be_read_is_a_problem(tmp_path: Path) -> None:
    with pytest.raises(StockmanError) as caught:
        convert_files(tmp_path / "gone.tf")

    assert code_of(caught) == "workspace.unreadable"


def test_mistakes_are_problems_with_the_text_they_stand_in(project: Path) -> None:
    (project / "cluster.yaml").write_text("node_cidr: here\n")

    conversion = convert_files(project)

    assert [problem.code for problem in conversion.result.problems] == ["config.value"]
    assert conversion.texts["cluster.yaml"] == "node_cidr: here\n"


def test_lines_of_variables_are_never_shown(tmp_path: Path) -> None:
    (tmp_path / "variables.tf").write_text('a = "canary\n')

    conversion = convert_files(tmp_path / "variables.tf")

    assert (len(conversion.result.problems), conversion.texts) == (1, {})


def test_writing_makes_the_directory_and_a_second_time_changes_nothing(
    project: Path, tmp_path: Path
) -> None:
    out = tmp_path / "a" / "b"

    assert written(convert_files(project), out) == [("cluster.toml", "written")]
    assert written(convert_files(project), out) == [("cluster.toml", "up to date")]
    assert [path.name for path in out.iterdir()] == ["cluster.toml"]


def test_an_existing_file_is_replaced_only_by_force(project: Path, tmp_path: Path) -> None:
    (tmp_path / "cluster.toml").write_text(TOML)

    with pytest.raises(Conflict) as caught:
        written(convert_files(project), tmp_path)

    assert code_of(caught) == "convert.exists"
    assert (tmp_path / "cluster.toml").read_text() == TOML
    assert written(convert_files(project), tmp_path, force=True) == [("cluster.toml", "replaced")]
    assert (tmp_path / "cluster.toml").read_text() == convert_files(project).result.files[
        "cluster.toml"
    ]


def test_one_file_that_exists_keeps_the_others_from_being_written(tmp_path: Path) -> None:
    (tmp_path / "cluster.toml").write_text(TOML)
    (tmp_path / "nodes.yaml").write_text("hosts: {}\n")

    with pytest.raises(Conflict):
        written(convert_files(tmp_path, form="toml"), tmp_path)

    assert not (tmp_path / "cluster.yaml").exists()


def test_a_place_that_cannot_be_written_is_a_problem(project: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(StockmanError) as caught:
        written(convert_files(project), tmp_path / "file" / "out")

    assert code_of(caught) == "convert.unwritable"


def test_what_describes_the_cluster_twice_is_named(project: Path, tmp_path: Path) -> None:
    assert leftover_files(convert_files(project), project) == ("cluster.yaml", "nodes.yaml")
    assert leftover_files(convert_files(project), tmp_path) == ()


def test_a_result_may_stay_unwritten(project: Path) -> None:
    assert unwritten_files(convert_files(project)) == (
        ConvertedFile(name="cluster.toml", state="not written"),
    )
