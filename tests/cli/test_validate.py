"""`stockman validate` as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.inside import ran_inside
from tests.config.written import CLUSTER, NODES

CANARY = "canary-9d41cc"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "cluster.yaml").write_text(CLUSTER)
    (tmp_path / "nodes.yaml").write_text(NODES)
    return tmp_path


def edit(project: Path, name: str, old: str, new: str) -> None:
    text = (project / name).read_text()
    assert old in text
    (project / name).write_text(text.replace(old, new))


def test_a_right_configuration_says_so_and_exits_0(project: Path) -> None:
    done = ran_inside("-C", str(project), "validate")

    assert (done.status, done.err) == (0, "")
    assert done.out == "cluster.yaml and nodes.yaml: valid (1 node, 0 guests, 0 hosts)\n"


def test_mistakes_are_shown_on_stderr_with_the_line_and_a_caret(project: Path) -> None:
    edit(project, "nodes.yaml", "127.66.0.21", "127.68.0.21")

    done = ran_inside("-C", str(project), "validate")

    assert (done.status, done.out) == (1, "")
    assert done.err == (
        "error[address.outside-network]: node cp-1 has an address outside of the node network\n"
        "  where: nodes.yaml:3:14\n"
        "    3 |     address: 127.68.0.21\n"
        "      |              ^\n"
        "  why:   127.68.0.21 is not inside 127.66.0.0/24 (cluster.yaml:2:12)\n"
        "  fix:   give node cp-1 an address from 127.66.0.1 to 127.66.0.254\n"
        "\n"
        "1 error\n"
    )


def test_programs_get_every_problem_in_an_envelope(project: Path) -> None:
    edit(project, "nodes.yaml", "vmid: 1021", "vmid: 5")

    done = ran_inside("-C", str(project), "validate", "-o", "json")

    document = json.loads(done.out)
    assert done.status == 1
    assert (document["apiVersion"], document["kind"]) == ("stockman/v1", "Validation")
    assert document["data"]["valid"] is False
    (problem,) = document["data"]["problems"]
    assert (problem["code"], problem["file"], problem["line"], problem["column"]) == (
        "config.range",
        "nodes.yaml",
        6,
        16,
    )


def test_warnings_fail_only_when_strict(project: Path) -> None:
    edit(project, "cluster.yaml", "talos_version: 1.13.9", "talos_version: 1.13.99")

    assert ran_inside("-C", str(project), "validate").status == 0
    assert ran_inside("-C", str(project), "validate", "--strict").status == 1


def test_a_secret_in_the_clear_is_never_shown(project: Path) -> None:
    edit(project, "cluster.yaml", "${PROXMOX_TOKEN}", CANARY)
    edit(project, "cluster.yaml", "talos_version", "talos_versionn")

    for form in ("table", "json", "yaml"):
        done = ran_inside("-C", str(project), "validate", "-o", form, "--debug", "-vv")
        assert "secret.exposed" in done.out + done.err
        assert CANARY not in done.out + done.err


def test_a_misspelled_secret_key_does_not_show_its_value(project: Path) -> None:
    edit(
        project,
        "cluster.yaml",
        "proxmox_token_secret: ${PROXMOX_TOKEN}",
        f"proxmox_tokn_secret: {CANARY}",
    )

    done = ran_inside("-C", str(project), "validate")

    assert "config.unknown-key" in done.err
    assert CANARY not in done.out + done.err


def test_an_empty_directory_points_to_init(tmp_path: Path) -> None:
    done = ran_inside("-C", str(tmp_path), "validate")

    assert done.status == 1
    assert "stockman init" in done.err


def test_encrypted_values_that_are_no_secrets_are_errors(project: Path) -> None:
    edit(project, "cluster.yaml", "cluster_name: meadow", "cluster_name: ENC[AES256_GCM,data:QQ==]")

    done = ran_inside("-C", str(project), "validate")

    assert done.status == 1
    assert "error[config.encrypted]: cluster_name is encrypted, but it is not a secret" in done.err
