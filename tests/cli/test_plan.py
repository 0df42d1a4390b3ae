"""`stockman plan` and the beginning of `stockman apply`, over the wire."""

import json
from pathlib import Path

import pytest
import yaml
from stockman_lab.testing.thread import ProxmoxLab

from tests.cli.planned_workspace import PlannedWorkspace, prepared_files, workspace


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return prepared_files(tmp_path_factory.mktemp("prepared"))


@pytest.fixture
def planned_workspace(tmp_path: Path, prepared: Path, proxmox_lab: ProxmoxLab) -> PlannedWorkspace:
    return workspace(tmp_path, prepared, proxmox_lab)


def test_a_plan_names_every_machine_and_says_that_there_is_something_to_do(
    planned_workspace: PlannedWorkspace,
) -> None:
    seen = planned_workspace.ran("plan")

    assert seen.status == 2, seen.err
    assert "+ VM 1030 (talos-trinity) on trinity" in seen.out
    assert "etcd is bootstrapped on talos-trinity" in seen.out


def test_programs_get_the_plan_with_its_steps(planned_workspace: PlannedWorkspace) -> None:
    data = json.loads(planned_workspace.ran("plan", "-o", "json").out)["data"]

    steps = [step["id"] for step in data["steps"]]
    assert data["cluster"] == "k8s"
    assert steps.index("vms/create/talos-neo") < steps.index("talos/configure/talos-neo")


def test_looking_asks_each_system_a_few_times_per_host_and_node(
    planned_workspace: PlannedWorkspace,
) -> None:
    data = json.loads(planned_workspace.ran("plan", "--stats", "-o", "json").out)["data"]

    assert data["calls"] < 20 * (3 + 3)


def test_a_stage_alone_has_no_steps_of_later_ones(planned_workspace: PlannedWorkspace) -> None:
    data = json.loads(planned_workspace.ran("plan", "--only", "images", "-o", "json").out)["data"]

    assert {step["stage"] for step in data["steps"]} == {"access", "images"}


def test_one_step_is_explained(planned_workspace: PlannedWorkspace) -> None:
    seen = planned_workspace.ran("plan", "--explain", "vms/create/talos-neo")

    assert "create VM 1031 (talos-neo) on neo" in seen.out
    assert "images/fetch/pve/trinity/cephfs" in seen.out


def test_a_step_that_is_not_there_is_told_with_those_that_are(
    planned_workspace: PlannedWorkspace,
) -> None:
    seen = planned_workspace.ran("plan", "--explain", "vms/create/talos-neon")

    assert seen.status == 3
    assert "plan.no-such-step" in seen.err


def test_a_kept_plan_is_applied_as_far_as_it_was_made(planned_workspace: PlannedWorkspace) -> None:
    kept = str(planned_workspace.directory / "plan.json")
    planned_workspace.ran("plan", "--only", "access", "--out", kept)

    seen = planned_workspace.ran("apply", kept, "--yes")

    assert seen.status == 0, seen.err
    assert "done" in seen.out
    left = json.loads(planned_workspace.ran("plan", "-o", "json").out)["data"]["summary"]["stages"]
    assert "access" not in left


def test_a_kept_plan_is_refused_when_the_files_changed(planned_workspace: PlannedWorkspace) -> None:
    kept = str(planned_workspace.directory / "plan.json")
    planned_workspace.ran("plan", "--only", "access", "--out", kept)
    planned_workspace.change("nodes.yaml", "memory: 16384", "memory: 8192")

    seen = planned_workspace.ran("apply", kept, "--yes")

    assert seen.status == 3
    assert "plan.outdated" in seen.err


def test_options_of_a_push_need_a_push_and_a_valid_branch(
    planned_workspace: PlannedWorkspace,
) -> None:
    for words, code in (
        (("--message", "Update"), "cli.without-push"),
        (("--branch", "update"), "cli.without-push"),
        (("--push", "--branch", "-f"), "cli.branch"),
        (("--push", "--branch", "a..b"), "cli.branch"),
    ):
        seen = planned_workspace.ran("plan", *words)

        assert seen.status == 64
        assert code in seen.err


def test_nothing_is_done_without_an_answer(planned_workspace: PlannedWorkspace) -> None:
    seen = planned_workspace.ran("apply", "--only", "access")

    assert seen.status == 64
    assert "cli.question" in seen.err
    assert planned_workspace.ran("plan").status == 2


def test_an_applied_stage_is_true_the_second_time(planned_workspace: PlannedWorkspace) -> None:
    assert planned_workspace.ran("apply", "--only", "access", "--yes").status == 0

    seen = planned_workspace.ran("apply", "--only", "access", "--yes")

    text = "No changes. The cluster matches the configuration.\n"
    assert (seen.status, seen.out) == (0, text)


def test_a_run_for_programs_is_lines_from_its_plan_to_its_outcome(
    planned_workspace: PlannedWorkspace,
) -> None:
    seen = planned_workspace.ran("apply", "--only", "access", "--yes", "-o", "json")

    first, *entries, last = map(json.loads, seen.out.splitlines())
    assert (first["event"], first["data"]["summary"]["stages"]) == ("planned", ["access"])
    assert {"accepted", "started", "finished", "ended"} <= {entry["event"] for entry in entries}
    assert (last["kind"], last["data"]["result"]) == ("RunOutcome", "done")


def test_nothing_to_do_is_one_line_for_programs(planned_workspace: PlannedWorkspace) -> None:
    assert planned_workspace.ran("apply", "--only", "access", "--yes").status == 0

    seen = planned_workspace.ran("apply", "--only", "access", "--yes", "-o", "json")

    (line,) = map(json.loads, seen.out.splitlines())
    assert (seen.status, line["event"], line["data"]["changes"]) == (0, "planned", [])


def test_plan_and_outcome_are_two_documents_of_yaml(planned_workspace: PlannedWorkspace) -> None:
    seen = planned_workspace.ran("apply", "--only", "access", "--yes", "-o", "yaml")

    assert [one["kind"] for one in yaml.safe_load_all(seen.out)] == ["Plan", "RunOutcome"]
