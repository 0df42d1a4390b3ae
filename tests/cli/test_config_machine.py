"""`stockman config machine` as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from stockman.talos.secrets.bundle import bundle_text
from tests.app.machine_workspace import workspace
from tests.cli.inside import ran_inside
from tests.cli.running import Ran
from tests.talos.machine.clusters import bundle

KEYS = """\
talos:
  extensions: [siderolabs/qemu-guest-agent]
  patches:
    worker:
      - machine:
          sysctls: {vm.nr_hugepages: "1024"}
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return workspace(tmp_path_factory.mktemp("project"), KEYS)


def machine(project: Path, *arguments: str) -> Ran:
    command = ("-C", str(project), "config", "machine", *arguments)
    return ran_inside(*command, HOME=str(project))


def secrets() -> list[str]:
    """Everything confidential of the bundle, as texts that a configuration could hold."""
    content = yaml.safe_load(bundle_text(bundle()).reveal())
    rows = [content["cluster"]["secret"], *content["secrets"].values()]
    rows += [content["trustdinfo"]["token"]]
    return rows + [cert["key"] for cert in content["certs"].values()]


def test_a_configuration_is_printed_as_talos_writes_it(project: Path) -> None:
    done = machine(project, "work-1")

    assert (done.status, done.err) == (0, "")
    assert done.out.startswith(
        "version: v1alpha1\ndebug: false\npersist: true\nmachine:\n    type: "
    )
    documents = list(yaml.safe_load_all(done.out))
    assert documents[0]["machine"]["sysctls"] == {"vm.nr_hugepages": "1024"}
    assert documents[0]["machine"]["token"] == "***"


@pytest.mark.parametrize(
    "options", [(), ("--origin",), ("-o", "json"), ("--origin", "-o", "json"), ("--debug", "-vv")]
)
def test_no_form_shows_a_secret_unless_asked(project: Path, options: tuple[str, ...]) -> None:
    done = machine(project, "cp-1", *options)

    assert done.status == 0
    assert [secret for secret in secrets() if secret in done.out + done.err] == []
    shown = machine(project, "cp-1", "--show-secrets", *options)
    assert [secret for secret in secrets() if secret[:30] not in shown.out] == []


def test_every_line_has_its_origin_in_a_column(project: Path) -> None:
    lines = machine(project, "work-1", "--origin").out.splitlines()

    (line,) = [line for line in lines if "nr_hugepages" in line]
    assert line.endswith("  # cluster.yaml:18:38 (talos.patches.worker[0])")
    columns = {line.index("  # ") for line in lines if "  # " in line and len(line) < 150}
    assert len(columns) == 1


def test_programs_get_values_with_their_origins(project: Path) -> None:
    done = machine(project, "work-1", "--origin", "-o", "json")

    answer = json.loads(done.out)
    assert (answer["kind"], answer["data"][0]["node"]) == ("MachineConfigurations", "work-1")
    assert answer["data"][0]["documents"][0]["machine"]["sysctls"]["vm.nr_hugepages"] == {
        "value": "1024",
        "origin": "cluster.yaml:18:38 (talos.patches.worker[0])",
    }


def test_a_difference_is_exit_status_2(project: Path, tmp_path: Path) -> None:
    running = tmp_path / "running.yaml"
    running.write_text(machine(project, "work-1", "--show-secrets").out)

    same = machine(project, "work-1", "--diff", str(running))
    running.write_text(running.read_text().replace('"1024"', '"512"'))
    other = machine(project, "work-1", "--diff", str(running))

    assert (same.status, same.out, same.err) == (0, "", "No differences.\n")
    assert (other.status, other.out) == (2, "~ machine.sysctls.vm.nr_hugepages: 512 -> 1024\n")


def test_a_file_with_masked_values_gives_a_partial_result(project: Path, tmp_path: Path) -> None:
    masked = tmp_path / "masked.yaml"
    masked.write_text(machine(project, "work-1").out)

    done = machine(project, "work-1", "--diff", str(masked))

    assert (done.status, done.out) == (4, "")
    assert "therefore not compared: " in done.err


def test_all_nodes_are_files_of_a_directory(project: Path, tmp_path: Path) -> None:
    target = tmp_path / "configs"

    done = machine(project, "--all", "--show-secrets", "--output-dir", str(target))

    assert (done.status, done.out) == (0, "")
    assert sorted(file.name for file in target.iterdir()) == ["cp-1.yaml", "work-1.yaml"]


@pytest.mark.parametrize(
    "arguments",
    [(), ("cp-1", "--all"), ("cp-1", "work-1"), ("--all",)],
)
def test_what_makes_no_sense_is_wrong_usage(project: Path, arguments: tuple[str, ...]) -> None:
    assert machine(project, *arguments).status == 64


def test_a_node_that_does_not_exist_names_those_that_do(project: Path) -> None:
    done = machine(project, "work-2")

    assert done.status == 1
    assert "config.no-such-node" in done.err
    assert "try work-1" in done.err


def test_without_a_key_it_says_where_it_looked(project: Path, tmp_path: Path) -> None:
    elsewhere = workspace(tmp_path / "there", KEYS)
    (elsewhere / "age.key").unlink()

    done = machine(elsewhere, "work-1")

    assert done.status == 1
    assert "age.key" in done.err
