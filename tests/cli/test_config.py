"""`stockman config show` and `config diff` as a user runs them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.inside import ran_inside
from tests.config.written import CLUSTER, NODES

CANARY = "canary-51ab7e"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    path = tmp_path / "one"
    path.mkdir()
    (path / "cluster.yaml").write_text(CLUSTER.replace("${PROXMOX_TOKEN}", CANARY))
    (path / "nodes.yaml").write_text("classes:\n  controller: {mtu: 9000}\n" + NODES)
    return path


def test_every_value_shows_where_it_came_from(project: Path) -> None:
    done = ran_inside("-C", str(project), "config", "show", "nodes.cp-1", "--origin")

    assert done.status == 0
    assert "mtu: 9000  # nodes.yaml:2:21 (class controller)\n" in done.out
    assert "name: cp-1  # nodes.yaml:4:11\n" in done.out
    assert "disk: /dev/sda  # derived: the first SCSI disk of the VM\n" in done.out
    assert "secureboot: false  # default\n" in done.out


def test_secrets_are_masked_in_every_form(project: Path) -> None:
    for form in ("table", "json", "yaml"):
        done = ran_inside("-C", str(project), "config", "show", "-o", form, "--origin")
        assert done.status == 0
        assert "token_secret" in done.out
        assert CANARY not in done.out + done.err


def test_programs_get_values_in_an_envelope(project: Path) -> None:
    done = ran_inside("-C", str(project), "config", "show", "cluster.gateways", "-o", "json")

    assert json.loads(done.out) == {
        "apiVersion": "stockman/v1",
        "kind": "Desired",
        "data": {"internal": "127.66.0.12", "dns": "127.66.0.11", "external": None},
    }


def test_a_part_that_does_not_exist_is_named(project: Path) -> None:
    done = ran_inside("-C", str(project), "config", "show", "cluster.netwrk")

    assert (done.status, done.out) == (1, "")
    assert "config.no-such-value" in done.err
    assert "try cluster.network\n" in done.err


def test_mistakes_stop_show_and_point_to_validate(project: Path) -> None:
    (project / "nodes.yaml").write_text(NODES.replace("true", "maybe"))

    done = ran_inside("-C", str(project), "config", "show")

    assert done.status == 3
    assert "stockman validate" in done.err


def test_a_difference_in_meaning_exits_2(project: Path, tmp_path: Path) -> None:
    path = tmp_path / "two"
    path.mkdir()
    (path / "cluster.yaml").write_text(CLUSTER)
    (path / "nodes.yaml").write_text(NODES)

    same = ran_inside("config", "diff", str(project), str(project))
    differs = ran_inside("config", "diff", str(project), str(path))

    assert (same.status, same.out, same.err) == (0, "", "No differences.\n")
    assert differs.status == 2
    assert "~ nodes[cp-1].mtu: 9000 -> 1500\n" in differs.out
