"""The search for secrets. The planted ones are put together here, so this file holds none."""

import subprocess
import sys
from pathlib import Path

import pytest

from scripts.check_secrets import Finding, findings

ROOT = Path(__file__).parents[2]

KEY = "b3BlbnNzaC1rZXktdjEAAAAABG5vbmU"
DICE = "q7Rz0mXv" + "T4kLw9Bn" + "E2sYc8Hd" + "U5gJp1Fa"
UUID = "-".join(["6f1c2d3e", "4b5a", "4978", "8c6d", "0e1f2a3b4c5d"])
CANARIES = {
    "age-key": "AGE-SECRET-" + "KEY-1" + "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L" * 2,
    "aws-key": "AKIA" + "IOSFODNN7QEXMPLE",
    "bearer-token": "Authorization: Bearer " + "c2VjcmV0LXRva2Vu.MTIzNDU2",
    "bootstrap-token": "join: " + "abc1de" + "." + "0123456789abcdef",
    "cloudflare-token": "cfut_" + "0a1B2c3D4e" * 4,
    "github-token": "ghp_" + "0a1B2c3D4e" * 4,
    "gitlab-token": "glpat-" + "0a1B2c3D4e" * 2,
    "google-key": "AIza" + "0a1B2c3D4e" * 3 + "0a1B2",
    "json-web-token": "eyJ" + "hbGciOiJub25lIn0" + ".eyJ" + "zdWIiOiJzdG9ja21hbiJ9" + ".",
    "named-secret": "api_token: " + DICE[:24],
    "password-in-address": "s3://" + "stockman:" + "hunter2" + "@127.0.0.1/backups",
    "private-key": "-----BEGIN OPENSSH " + "PRIVATE KEY-----\n" + KEY,
    "private-key-base64": "key: LS0tLS1CRUdJTiBFRDI1NTE5" + "IFBSSVZBVEUg" + "S0VZLS0tLS0K",
    "proxmox-token": "root@pam" + "!stockman=" + UUID,
    "random-string": f'"{DICE}"',
    "registry-token": "npm_" + "0a1B2c3D4e" * 3 + "0a1B2c",
    "slack-token": "xoxb-" + "1234567890-abcdef",
}
HARMLESS = {
    "checksum": "sha256:" + "0a1b2c3d" * 8,
    "subresource": "sha256-" + DICE + DICE[:11] + "=",
    "commit": "uses: somebody/something@" + "0a1b2c3d" * 5,
    "schematic": "schematic_id: " + "0a1b2c3d" * 8,
    "encrypted": "token: ENC[AES256_GCM,data:" + DICE + ",iv:" + DICE + ",type:str]",
    "from-the-environment": "proxmox_token: ${PROXMOX_VE_API_TOKEN_SECRET_1}",
    "from-a-file": "password: file:secrets/proxmox-2025/root-password.txt",
    "public-key": "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5" + DICE,
    "recipient": "age1" + "qpzry9x8gf2tvdw0s3jn54khce6mua7l" * 2,
    "key-header": "-----BEGIN OPENSSH " + 'PRIVATE KEY-----"',
    "sentence": "def test_a_node_that_has_3_nics_and_2_vlans_keeps_them_in_order() -> None:",
    "path": "src/stockman/config/Language2024/readers/Yaml12Events/test_v1alpha1.py",
    "uuid": "uuid: " + UUID,
}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    subprocess.run(["git", "init", "--quiet", tmp_path], check=True)
    (tmp_path / "scripts").mkdir()
    return tmp_path


@pytest.mark.parametrize("kind", sorted(CANARIES))
def test_a_planted_secret_is_found_where_it_stands(tree: Path, kind: str) -> None:
    (tree / "notes.md").write_text(f"first line\n\n{CANARIES[kind]}\n")

    assert Finding("notes.md", 3, kind) in findings(tree)


@pytest.mark.parametrize("name", sorted(HARMLESS))
def test_what_is_public_is_not_reported(tree: Path, name: str) -> None:
    (tree / "notes.md").write_text(f"{HARMLESS[name]}\n")

    assert findings(tree) == []


def test_a_certificate_is_public(tree: Path) -> None:
    body = f"-----BEGIN CERTIFICATE-----\n{DICE}{DICE}\n-----END CERTIFICATE-----\n"
    (tree / "ca.crt").write_text(f"{body}{DICE}\n")

    assert findings(tree) == [Finding("ca.crt", 4, "random-string")]


def test_files_that_git_ignores_are_not_read(tree: Path) -> None:
    (tree / ".gitignore").write_text("age.key\n")
    (tree / "age.key").write_text(CANARIES["age-key"])

    assert findings(tree) == []


def test_a_line_can_excuse_itself_with_a_reason(tree: Path) -> None:
    (tree / "a.py").write_text(f"A = '{DICE}'  # not-a-secret: made up for the test\n")
    (tree / "b.py").write_text(f"B = '{DICE}'  # not-a-secret:\n")

    assert findings(tree) == [Finding("b.py", 1, "excuse-without-a-reason")]


def test_a_file_can_be_excused_for_one_kind(tree: Path) -> None:
    (tree / "fixture.yaml").write_text(f"{DICE}\n{CANARIES['aws-key']}\n")
    (tree / "scripts/not-secrets.txt").write_text("fixture.yaml random-string made up\n")

    assert findings(tree) == [Finding("fixture.yaml", 2, "aws-key")]


def test_an_excuse_that_is_not_needed_is_reported(tree: Path) -> None:
    (tree / "scripts/not-secrets.txt").write_text("# why\n\ngone.yaml aws-key made up\n")

    assert findings(tree) == [Finding("scripts/not-secrets.txt", 3, "excuse-without-a-finding")]


def test_the_report_does_not_repeat_the_secret(tree: Path) -> None:
    (tree / "notes.md").write_text(CANARIES["github-token"])

    ended = subprocess.run(
        [sys.executable, ROOT / "scripts" / "check_secrets.py", tree],
        check=False,
        capture_output=True,
        text=True,
    )

    assert ended.returncode == 1
    assert ended.stdout == "notes.md:1: github-token\n"
    assert CANARIES["github-token"] not in ended.stderr
