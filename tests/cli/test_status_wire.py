"""`stockman status` and `stockman health` over real connections: to a lab, and to nobody."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from stockman_lab.testing.thread import ProxmoxLab

from tests.cli.inside import ran_inside
from tests.cli.kept_keys import with_keys
from tests.cli.running import Ran

NETWORK = "127.213.0.0/16"
Command = Callable[..., Ran]


@pytest.fixture
def stockman(tmp_path: Path, proxmox_lab: ProxmoxLab) -> Command:
    """Commands in a directory for the hosts of a lab, on which nothing was made yet."""
    ran = ran_inside(
        "init", str(with_keys(tmp_path)), "--preset", "three-node", "--network", NETWORK, "--yes"
    )
    assert ran.status == 0, ran.err
    shutil.copy(proxmox_lab.ca, tmp_path / "pve-ca.pem")
    file = tmp_path / "cluster.yaml"
    text = file.read_text()
    old = next(line for line in text.splitlines() if line.startswith("proxmox_endpoint:"))
    text = text.replace(old, f"proxmox_endpoint: {proxmox_lab.endpoint}")
    text = text.replace("\nproxmox:\n", "\nproxmox:\n  tls: {ca_file: pve-ca.pem}\n")
    old = next(line for line in text.splitlines() if line.startswith("proxmox_token_id:"))
    text = text.replace(old, f"proxmox_token_id: {proxmox_lab.token_id}")
    file.write_text(text)
    return lambda *arguments: ran_inside(
        "-C", str(tmp_path), *arguments, PROXMOX_TOKEN_SECRET=proxmox_lab.token_secret
    )


@pytest.mark.proxmox_lab(network=NETWORK)
def test_before_anything_is_made_status_says_what_is_missing(stockman: Command) -> None:
    result = stockman("status", "-o", "json")

    assert result.status == 1
    data = json.loads(result.out)["data"]
    health = {section["check"]: section["health"] for section in data["parts"]}
    assert health == {
        "proxmox": "ok",
        "vms": "error",
        "talos": "error",
        "etcd": "unknown",
        "kubernetes": "error",
        "flux": "error",
        "components": "error",
        "certificates": "ok",
        "backups": "off",
        "runs": "ok",
    }
    codes = {problem["code"] for problem in data["problems"] if problem["severity"] == "error"}
    assert codes == {"status.vm-missing", "status.etcd-silent", "status.api-silent"}
    assert sum(data["calls"].values()) < 100


@pytest.mark.proxmox_lab(network=NETWORK)
def test_waiting_ends_with_the_problems_when_time_is_up(stockman: Command) -> None:
    result = stockman("status", "--wait", "--timeout", "1s")

    assert result.status == 1
    assert "error[status.vm-missing]: talos-trinity has no VM" in result.out
    assert "waiting for VMs: 0 of 3 run" in result.err


@pytest.mark.proxmox_lab(network=NETWORK)
def test_health_asks_only_for_what_is_wanted(stockman: Command, tmp_path: Path) -> None:
    good = stockman("health", "--only", "proxmox", "--only", "certificates", "--only", "runs")
    bad = stockman("health", "--only", "vms", "-o", "json")

    assert (good.status, bad.status) == (0, 1), good.out
    assert [line.split()[:2] for line in good.out.splitlines()[1:]] == [
        ["ok", "proxmox"],
        ["ok", "certificates"],
        ["ok", "runs"],
    ]
    assert json.loads(bad.out)["data"]["checks"] == {"vms": "error"}


@pytest.mark.proxmox_lab(network=NETWORK)
def test_smoke_tests_fail_where_no_api_answers(stockman: Command) -> None:
    failed = stockman("health", "--smoke", "cilium", "-o", "json")
    unknown = stockman("health", "--smoke", "sendmail")
    conflict = stockman("health", "--only", "vms", "--smoke")

    assert (failed.status, unknown.status, conflict.status) == (1, 64, 64)
    (row,) = json.loads(failed.out)["data"]["tests"]
    assert (row["component"], row["passed"]) == ("cilium", False)
    assert "error[" in failed.err
    assert "error[health.no-smoke-test]" in unknown.err
    assert "--smoke cannot be combined" in conflict.err


@pytest.mark.proxmox_lab(network=NETWORK)
def test_metrics_are_written_whole_to_a_file(stockman: Command, tmp_path: Path) -> None:
    file = tmp_path / "stockman.prom"

    result = stockman("health", "--textfile", str(file))

    assert (result.status, result.out) == (1, "")
    text = file.read_text()
    assert 'stockman_healthy{cluster="k8s"} 0\n' in text
    assert 'stockman_check_state{cluster="k8s",check="vms",state="error"} 1\n' in text
    assert 'host="neo"} 1\n' in text
    assert "stockman_runs 0\n" in text
    assert [path.name for path in tmp_path.glob("*.prom*")] == ["stockman.prom"]


def test_where_nobody_answers_nothing_is_called_good(tmp_path: Path) -> None:
    texts = ("--preset", "three-node", "--network", NETWORK, "--yes")
    assert ran_inside("init", str(with_keys(tmp_path)), *texts).status == 0

    ran = ran_inside(
        "-C", str(tmp_path), "health", "-o", "json", PROXMOX_VE_API_TOKEN="root@pam!a=b"
    )

    assert ran.status == 1
    checks = json.loads(ran.out)["data"]["checks"]
    assert checks["proxmox"] == "unknown"
    assert checks["vms"] == "unknown"
    assert {name for name, state in checks.items() if state == "ok"} == {"certificates", "runs"}


@pytest.mark.proxmox_lab(network=NETWORK)
def test_a_file_that_somebody_edited_keeps_nobody_from_looking(
    stockman: Command, tmp_path: Path
) -> None:
    assert stockman("render").status == 0
    file = tmp_path / "kubernetes/apps/kube-system/coredns/ks.yaml"
    file.write_text(file.read_text() + "# mine\n")

    seen, told = stockman("status"), stockman("health", "--only", "proxmox")

    assert (seen.status, told.status) == (1, 0)
    assert "PART " in seen.out
    assert "tree.undecided" not in seen.err
