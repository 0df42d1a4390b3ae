"""What stops a plan before harm: each with what, where, why and fix."""

import json
from pathlib import Path

import pytest
from stockman_lab.core.faults import Effect, Fault, Point
from stockman_lab.pve.access.accounts import TokenChange, create_token
from stockman_lab.pve.access.identity import Caller
from stockman_lab.testing.thread import ProxmoxLab

from tests.cli.planned_workspace import PlannedWorkspace, prepared_files, workspace

OWN = "stockman@pve!stockman"


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return prepared_files(tmp_path_factory.mktemp("prepared"))


@pytest.fixture
def planned_workspace(tmp_path: Path, prepared: Path, proxmox_lab: ProxmoxLab) -> PlannedWorkspace:
    return workspace(tmp_path, prepared, proxmox_lab)


def told(workspace: PlannedWorkspace, **environment: str) -> str:
    """What a plan says against itself."""
    seen = workspace.ran("plan", **environment)
    assert seen.status == 1, seen.out
    return seen.err


def own_token(workspace: PlannedWorkspace, change: TokenChange) -> str:
    """A token of root's in the lab; returns its secret."""
    cluster = workspace.lab.world.clusters["k8s"]
    access = cluster.state.access
    dice = cluster.around.dice.random_bytes
    workspace.lab.run(lambda: create_token(access, Caller("root@pam", "mine"), change, dice))
    workspace.change("cluster.yaml", f"proxmox_token_id: {OWN}", "proxmox_token_id: root@pam!mine")
    return access.users["root@pam"].tokens["mine"].secret


def test_without_any_token_it_is_said_who_can_make_one(planned_workspace: PlannedWorkspace) -> None:
    assert "proxmox.no-token" in told(planned_workspace, HOME="/nowhere")


def test_a_wrong_token_is_told(planned_workspace: PlannedWorkspace) -> None:
    found = told(planned_workspace, PROXMOX_TOKEN_SECRET="00000000-0000-4000-8000-000000000000")

    assert "proxmox.authentication" in found
    assert "00000000-0000-4000-8000-000000000000" not in found


def test_a_token_that_expired_is_told(planned_workspace: PlannedWorkspace) -> None:
    secret = own_token(planned_workspace, TokenChange(privsep=False, expire=1))

    assert "proxmox.authentication" in told(planned_workspace, PROXMOX_TOKEN_SECRET=secret)


def test_a_missing_privilege_is_named_with_its_path(planned_workspace: PlannedWorkspace) -> None:
    secret = own_token(planned_workspace, TokenChange(privsep=True))

    found = told(planned_workspace, PROXMOX_TOKEN_SECRET=secret)

    assert "the token root@pam!mine lacks Sys.Audit on /" in found


def test_a_token_that_the_server_says_back_is_not_shown(
    planned_workspace: PlannedWorkspace,
) -> None:
    secret = own_token(planned_workspace, TokenChange(privsep=False))
    fault = Fault(
        point=Point.REQUEST,
        effect=Effect.FAIL,
        match={"path": "/cluster/resources"},
        status=500,
        message=f"bad header PVEAPIToken=root@pam!mine={secret}",
        times=None,
    )
    planned_workspace.lab.run(lambda: planned_workspace.lab.world.faults.add(fault))

    found = told(planned_workspace, PROXMOX_TOKEN_SECRET=secret)

    assert "bad header PVEAPIToken=root@pam!mine=***" in found
    assert secret not in found


def test_half_an_administrator_is_told(planned_workspace: PlannedWorkspace) -> None:
    seen = planned_workspace.ran("plan", PROXMOX_VE_API_TOKEN="root@pam!lab")

    assert seen.status == 64
    assert "proxmox.administrator" in seen.err


def test_a_name_without_an_address_is_told(planned_workspace: PlannedWorkspace) -> None:
    planned_workspace.change(
        "cluster.yaml", planned_workspace.lab.endpoint, "https://pve.nowhere.invalid:8006"
    )

    named = {"PROXMOX_VE_ENDPOINT": "https://pve.nowhere.invalid:8006"}
    found = told(planned_workspace, **planned_workspace.administrator | named)

    assert "proxmox.unreachable" in found
    assert "its name has no address" in found


def test_a_certificate_that_nobody_vouches_for_is_told_with_its_fingerprint(
    planned_workspace: PlannedWorkspace,
) -> None:
    planned_workspace.change("cluster.yaml", "  tls: {ca_file: pve-ca.pem}\n", "")

    found = told(planned_workspace, **planned_workspace.administrator)

    assert "proxmox.certificate" in found
    assert "the server presented " in found


def test_a_host_that_does_not_answer_is_told(planned_workspace: PlannedWorkspace) -> None:
    planned_workspace.change(
        "cluster.yaml", planned_workspace.lab.endpoint, "https://127.213.79.9:8006"
    )

    named = {"PROXMOX_VE_ENDPOINT": "https://127.213.79.9:8006"}
    found = told(planned_workspace, **planned_workspace.administrator | named)

    assert "proxmox.unreachable" in found
    assert "127.213.79.9" in found


def test_files_that_were_changed_by_hand_wait_for_a_decision(
    planned_workspace: PlannedWorkspace,
) -> None:
    file = planned_workspace.directory / "kubernetes/apps/kube-system/coredns/ks.yaml"
    file.write_text(file.read_text() + "# mine\n")

    seen = planned_workspace.ran("plan")

    assert seen.status == 3
    assert "tree.undecided" in seen.err


def test_a_cluster_is_destroyed_by_its_name_only(planned_workspace: PlannedWorkspace) -> None:
    planned_workspace.ran("apply", "--only", "access", "--yes")

    assert "cli.unnamed-cluster" in planned_workspace.ran("destroy", "--yes").err
    assert "cli.unnamed-cluster" in planned_workspace.ran("destroy", "--yes", "--name", "k9s").err
    assert "cli.unnamed-cluster" in planned_workspace.ran("destroy", "--name", "k8s").err
    seen = planned_workspace.ran("destroy", "--yes", "--name", "k8s")
    assert seen.status == 0, seen.err
    assert "stockman@pve" not in planned_workspace.lab.world.clusters["k8s"].state.access.users


SHAPES = (
    ("--only", "vms"),
    ("--node", "talos-neo"),
    ("--until", "images"),
    ("--push",),
    ("--prune",),
    ("--reconcile",),
    ("--any-time",),
)


def test_a_plan_that_was_kept_is_carried_out_as_it_is_or_not_at_all(
    planned_workspace: PlannedWorkspace,
) -> None:
    file = planned_workspace.directory / "plan.json"
    planned_workspace.ran("plan", "--only", "access", "--out", "plan.json")
    assert file.exists()

    for shape in SHAPES:
        seen = planned_workspace.ran("apply", "plan.json", "--yes", *shape)
        assert (seen.status, seen.out) == (64, ""), shape
        assert "cli.already-planned" in seen.err
        assert f"{shape[0]} would change it" in seen.err
    both = planned_workspace.ran(
        "apply", "plan.json", "--yes", "--prune", "--only", "vms", "--push"
    )
    assert "--only, --push and --prune would change it" in both.err
    assert planned_workspace.ran("runs", "list", "-o", "name").out == ""


def test_programs_are_told_what_stands_in_the_way(planned_workspace: PlannedWorkspace) -> None:
    seen = planned_workspace.ran("plan", "-o", "json", HOME="/nowhere")

    data = json.loads(seen.out)["data"]
    assert (seen.status, data["steps"], data["changes"]) == (1, [], [])
    assert "proxmox.no-token" in [problem["code"] for problem in data["problems"]]


def test_programs_that_read_lines_are_told_as_well(planned_workspace: PlannedWorkspace) -> None:
    seen = planned_workspace.ran("apply", "--yes", "-o", "json", HOME="/nowhere")

    rows = [json.loads(line) for line in seen.out.splitlines()]
    assert (seen.status, {row["event"] for row in rows}) == (1, {"error"})
    assert "proxmox.no-token" in [row["data"]["problem"]["code"] for row in rows]


def test_a_refusal_is_the_last_line_for_programs(planned_workspace: PlannedWorkspace) -> None:
    seen = planned_workspace.ran(
        "apply", str(planned_workspace.directory / "gone.json"), "--yes", "-o", "json"
    )

    (line,) = map(json.loads, seen.out.splitlines())
    assert (seen.status, line["data"]["problem"]["code"]) == (3, "plan.unreadable")
