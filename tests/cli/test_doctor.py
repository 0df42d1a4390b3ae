"""`stockman doctor` as a user runs it; every server is on loopback."""

import io
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from stockman.cli.edge import run
from tests.adapters import loopback
from tests.cli.running import REAL, clean

CANARY = "canary-51d6b0"
ENOUGH = 12
"""Seconds for a run in which nothing answers, on a slow machine; it promises six."""

CLUSTER = """\
node_cidr: 127.66.0.0/24
node_dns_servers: [127.66.0.2]
node_ntp_servers: [127.66.0.3]
cluster_api_addr: 127.66.0.10
cluster_dns_gateway_addr: 127.66.0.11
cluster_gateway_addr: 127.66.0.12
cloudflare_enabled: false
repository_name: https://127.66.0.5:9/owner/repo.git
proxmox:
  endpoint: https://127.66.0.4:PORT
  tls: {ca_file: pve-root-ca.pem}
  token_id: stockman@pve!stockman
  token_secret: ${PVE_TOKEN}
talos:
  schematic_id: SCHEMATIC
  patch_order: talhelper
  factory_url: http://127.66.0.4:FACTORY
""".replace("SCHEMATIC", "0" * 64)
NODES = """\
nodes:
  - name: cp-1
    address: 127.66.0.21
    controller: true
    disk: /dev/sda
    mac_addr: bc:24:11:00:00:21
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project in git, whose servers are all closed."""
    path = tmp_path / "project"
    path.mkdir()
    write(path, 9, 9)
    (path / ".gitignore").write_text("/age.key\n")
    (path / "age.key").write_text("# no key\n")
    (path / "age.key").chmod(0o600)
    for arguments in (
        ("init", "--initial-branch=main"),
        ("add", "."),
        ("-c", "user.name=x", "-c", "user.email=x@example.com", "commit", "--message=first"),
        ("remote", "add", "origin", "https://127.66.0.5:9/owner/repo.git"),
    ):
        subprocess.run(["git", *arguments], cwd=path, check=True, capture_output=True)
    return path


@pytest.fixture(autouse=True)
def _token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PVE_TOKEN", CANARY)
    for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy", "KUBECONFIG"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def _servers(project: Path, tmp_path: Path) -> Iterator[None]:
    """A Proxmox with a CA of its own, and an Image Factory."""
    ca = loopback.authority()
    (project / "pve-root-ca.pem").write_bytes(ca.text)
    context = loopback.issued(ca).context(tmp_path)
    with (
        loopback.listening(loopback.handshaking(context)) as proxmox,
        loopback.listening(lambda talk: None) as factory,
    ):
        write(project, proxmox, factory)
        yield


def write(directory: Path, proxmox: int, factory: int) -> None:
    ports = CLUSTER.replace("PORT", str(proxmox)).replace("FACTORY", str(factory))
    (directory / "cluster.yaml").write_text(ports)
    (directory / "nodes.yaml").write_text(NODES)


def findings(capsys: pytest.CaptureFixture[str]) -> dict[tuple[str, str], dict[str, Any]]:
    document = json.loads(capsys.readouterr().out)
    return {
        (finding["check"], finding["subject"]): finding for finding in document["data"]["findings"]
    }


def test_offline_a_good_project_is_well(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status = run(["-C", str(project), "doctor", "--offline"])

    seen = capsys.readouterr()
    assert status == 0
    assert seen.out.splitlines()[0].split() == ["STATUS", "CHECK", "RESULT"]
    assert {line.split()[0] for line in seen.out.splitlines()[1:]} == {"OK", "SKIP"}
    assert seen.err.endswith(" OK\n")


def test_programs_get_every_finding_in_an_envelope(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(["-C", str(project), "doctor", "--offline", "-o", "json"])

    document = json.loads(capsys.readouterr().out)
    assert (document["apiVersion"], document["kind"]) == ("stockman/v1", "Diagnosis")
    assert document["data"]["failed"] is False
    assert document["data"]["findings"][0] == {
        "check": "machine.python",
        "subject": "Python",
        "status": "ok",
        "summary": sys.version.split()[0],
        "fix": "",
    }
    assert sum(document["data"]["counts"].values()) == len(document["data"]["findings"])


def test_a_warning_fails_only_the_strict(project: Path) -> None:
    (project / "nodes.yaml").write_text(f"{NODES}guests: []\n")
    (project / ".gitignore").write_text("")

    assert run(["-C", str(project), "doctor", "--offline"]) == 0
    assert run(["-C", str(project), "doctor", "--offline", "--strict"]) == 1


def test_a_check_without_a_result_is_a_partial_result(project: Path) -> None:
    (project / ".git" / "config").write_text("[broken\n")

    assert run(["-C", str(project), "doctor", "--offline"]) == 4


def test_a_secret_that_others_can_read_fails_with_its_fix(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "age.key").chmod(0o644)

    status = run(["-C", str(project), "doctor", "--offline"])

    assert status == 1
    lines = capsys.readouterr().out.splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith("FAIL"))
    assert lines[at].split()[:3] == ["FAIL", "secret.files", "age.key:"]
    assert lines[at + 1].strip() == "fix: run `chmod 600 age.key`"


@pytest.mark.usefixtures("_servers")
def test_real_servers_are_reached_and_judged(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status = run(["-C", str(project), "doctor", "-o", "json"])

    by_check = {check: finding for (check, _), finding in findings(capsys).items()}
    assert by_check["reach.proxmox"]["status"] == "ok"
    assert by_check["reach.proxmox"]["summary"].endswith("is trusted until 2120-01-01")
    assert by_check["reach.factory"]["status"] == "ok"
    assert by_check["reach.git"]["status"] == "fail"
    assert by_check["reach.kubernetes"]["status"] == "warn"
    assert by_check["machine.clock"]["status"] == "unknown"
    assert status == 1


def test_with_nothing_reachable_everything_ends_in_time(project: Path) -> None:
    with loopback.hanging() as proxmox, loopback.hanging() as factory:
        write(project, proxmox, factory)
        (project / "pve-root-ca.pem").write_bytes(loopback.authority().text)
        done = subprocess.run(
            [*REAL, "-C", str(project), "doctor"],
            capture_output=True,
            encoding="utf-8",
            env=clean(PVE_TOKEN=CANARY),
            timeout=ENOUGH,
            check=False,
        )

    assert done.returncode == 1
    assert "no response within 2 s" in done.stdout
    assert "Traceback" not in done.stderr
    assert CANARY not in done.stdout + done.stderr


def test_without_any_files_the_first_step_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status = run(["-C", str(tmp_path), "doctor", "--offline"])

    assert status == 1
    assert "fix: run `stockman init`" in capsys.readouterr().out


def test_a_terminal_is_told_what_is_going_on(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)

    run(["-C", str(project), "doctor"])

    assert " network checks\n" in terminal.getvalue()


def test_a_pipe_hears_only_the_counts(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(["-C", str(project), "doctor"])

    assert len(capsys.readouterr().err.splitlines()) == 1


def test_nothing_is_written(project: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in project.rglob("*")}

    run(["-C", str(project), "doctor", "--offline", "--quiet"])

    assert {path: path.stat().st_mtime_ns for path in project.rglob("*")} == before
