"""Files that lead to a lab, and hosts of it that are switched on and off."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import pytest
from stockman_lab.commands.control import complete_lab_hosts
from stockman_lab.commands.runtime.directories import LabFiles

from lab.tests.commands.runtime.test_serve import running_lab, wanted
from stockman.cli.group import Program
from stockman.cli.registry import COMMANDS
from stockman.config.presets import render_preset
from tests.cli.inside import ran_inside
from tests.cli.running import Ran

Lab = Callable[..., Ran]


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Lab]:
    """Runs a command of `stockman lab` in a directory with the files of a preset."""
    for name, text in render_preset("three-node").items():
        (tmp_path / name).write_text(text)
    files = LabFiles(state=tmp_path / "lab.state")
    with running_lab(files, wanted(preset="three-node")):
        yield lambda *words: ran_inside(
            "-C", str(tmp_path), "lab", *words, "--state", str(files.state)
        )


def test_files_lead_to_the_lab_and_to_nothing_else(lab: Lab, tmp_path: Path) -> None:
    before = (tmp_path / "cluster.yaml").read_text()

    data = json.loads(lab("connect", "-o", "json").out)["data"]

    keys = [one["key"] for one in data]
    assert keys == ["proxmox_endpoint", "proxmox.tls.ca_file", "talos.factory_url"]
    lines = (tmp_path / "cluster.yaml").read_text().splitlines()
    assert len(set(lines) - set(before.splitlines())) == 4
    assert b"BEGIN CERTIFICATE" in (tmp_path / "pve-root-ca.pem").read_bytes()
    assert ran_inside("-C", str(tmp_path), "validate").status == 0


def test_a_second_time_changes_nothing(lab: Lab, tmp_path: Path) -> None:
    lab("connect")
    before = (tmp_path / "cluster.yaml").read_text()

    assert "written" not in lab("connect").out
    assert (tmp_path / "cluster.yaml").read_text() == before


def test_files_of_another_form_are_left_alone(lab: Lab, tmp_path: Path) -> None:
    (tmp_path / "cluster.yaml").write_text("proxmox_endpoint: x\nproxmox: {hosts: {}}\n")

    done = lab("connect")

    assert "error[lab.connect]" in done.err
    assert "write it yourself: proxmox_endpoint: https://127." in " ".join(done.err.split())
    assert not (tmp_path / "pve-root-ca.pem").exists()


def test_a_host_loses_its_power_and_gets_it_back(lab: Lab) -> None:
    rows = json.loads(lab("power", "neo", "off", "-o", "json").out)["data"]
    assert [row["name"] for row in rows if not row["power"]] == ["neo"]
    assert "neo" in lab("power", "neo", "off").out

    assert " off" not in lab("power", "neo", "on").out


def test_a_host_that_is_not_there_is_refused_with_those_that_are(lab: Lab) -> None:
    done = lab("power", "talos-neo", "on")

    assert done.status != 0
    assert "it has trinity, neo, niobe" in done.err


def test_hosts_are_completed(lab: Lab, tmp_path: Path) -> None:
    lab("status")
    ctx = click.Context(Program(COMMANDS), obj=None)
    ctx.params["state"] = str(tmp_path / "lab.state")

    offered = complete_lab_hosts(ctx, click.Argument(["host"]), "n")

    assert [one.value for one in offered] == ["neo", "niobe"]
