"""`stockman config nocloud` as a user runs it."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path

import pytest
from stockman_lab.images.iso_files import read_iso

from stockman.app.machine_config.first_boot import FirstBootOptions, first_boot_files, write_image
from stockman.model.secret import Secret
from tests.app.private_problems import Counted
from tests.cli.inside import ran_inside
from tests.config.written import CLUSTER, NODES
from tests.talos.nocloud.test_iso import MOMENT


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "cluster.yaml").write_text(CLUSTER)
    (tmp_path / "nodes.yaml").write_text(NODES)
    return tmp_path


class Stopped:
    """`ports.Clock` that stands still."""

    def now(self) -> datetime:
        return MOMENT


def test_files_and_keys_are_shown_without_the_machine_configuration(project: Path) -> None:
    done = ran_inside("-C", str(project), "config", "nocloud", "cp-1")

    assert done.status == 0
    assert "meta-data\n  instance-id: " in done.out
    assert "network-config\n  version: 1\n" in done.out
    assert "user-data\n  *** (" in done.out
    assert "VM settings\n  citype: nocloud\n  ipconfig0: gw=127.66.0.1" in done.out


def test_programs_get_the_same(project: Path) -> None:
    done = ran_inside(
        *("-C", str(project), "config", "nocloud", "cp-1", "--network-version", "2", "-o", "json"),
    )

    data = json.loads(done.out)["data"]
    assert data["user-data"] == "***"
    assert data["network-config"].startswith("version: 2\nethernets:\n")
    assert data["delivery"] == "keys"


def test_a_node_that_does_not_exist_is_named(project: Path) -> None:
    done = ran_inside("-C", str(project), "config", "nocloud", "cp-9")

    assert done.status == 1
    assert "error[config.no-such-node]: there is no node cp-9" in done.err


def test_an_image_holds_the_files(project: Path) -> None:
    first_boot = first_boot_files(
        project, "cp-1", FirstBootOptions(first_boot=True), lambda _: Secret("machine: {}\n")
    )

    size = write_image(project / "cp-1.iso", first_boot, Stopped(), Counted())

    content = (project / "cp-1.iso").read_bytes()
    assert size == len(content)
    assert read_iso(content).files["user-data"] == b"machine: {}\n"
    assert first_boot.delivery == "image"
    assert "machine" not in repr(first_boot.user_data)


def test_a_node_on_a_vlan_is_told_why_it_needs_an_image(project: Path) -> None:
    (project / "cluster.yaml").write_text(f"{CLUSTER}node_vlan_tag: 66\n")

    done = ran_inside("-C", str(project), "config", "nocloud", "cp-1")

    assert done.status == 0
    assert "VM settings" not in done.out
    assert (
        "Image needed because of\n"
        "  the VLAN eth0.66\n"
        "    ipconfigN configures a card, not VLAN 66 on it\n"
        "Set by the machine configuration only\n"
    ) in done.out
