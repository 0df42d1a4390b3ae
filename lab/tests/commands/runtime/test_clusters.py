"""A lab with a Talos cluster: made, served, told of, kept."""

from __future__ import annotations

import stat
import threading
import urllib.request
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from stockman_lab.commands.inspect import machine_rows
from stockman_lab.commands.runtime.directories import LabFiles
from stockman_lab.commands.runtime.remote import ask, tell
from stockman_lab.commands.runtime.serve import CLUSTER, serve
from stockman_lab.commands.runtime.world_options import Manners, wish

from lab.tests.commands.runtime.clusters import NETWORK, running_cluster
from lab.tests.commands.runtime.test_serve import DOORS, NETWORKS, environment, running_lab, wanted
from stockman.model.errors import StockmanError


def test_the_machines_of_a_preset_are_made_and_everybody_is_told_how_far_they_are(
    tmp_path: Path,
) -> None:
    files = LabFiles(state=tmp_path / "lab.state")
    network = next(NETWORKS)
    told: list[tuple[str, str]] = []
    rows: list[dict[str, Any]] = []
    ready = threading.Event()
    made = replace(wanted(network), stage=CLUSTER, talos_version="1.12.1")

    def run() -> None:
        serve(files, made, DOORS, ready.set, lambda name, stage: told.append((name, stage)))

    thread = threading.Thread(target=run)
    thread.start()
    try:
        assert ready.wait(60)
        rows = machine_rows(files)
    finally:
        tell(files, "down", {})
        thread.join(30)
    assert [stage for _, stage in told] == ["made", "booting", "running"]
    assert {name for name, _ in told} == {"talos-1"}
    (row,) = rows
    assert (row["version"], row["stage"], row["ready"]) == ("v1.12.1", "running", True)
    with running_lab(files, wanted(network)):
        assert machine_rows(files) == rows


def test_clients_are_told_where_machines_and_images_are(tmp_path: Path) -> None:
    with running_cluster(tmp_path) as files:
        result = environment(files)
        file = Path(result["TALOSCONFIG"])
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert file.parent == files.state.parent
        (context,) = yaml.safe_load(file.read_text())["contexts"].values()
        (row,) = machine_rows(files)
        assert context["endpoints"] == context["nodes"] == [row["address"]]
        assert "STOCKMAN_LAB_PORTS" not in result
        with urllib.request.urlopen(f"{result['STOCKMAN_LAB_FACTORY']}/versions") as reply:
            assert b"v1.13.9" in reply.read()
        log: Any = ask(files, "log")
        assert log[-1].endswith("images GET /versions")


def test_a_lab_without_machines_has_no_talosconfig(tmp_path: Path) -> None:
    files = LabFiles(state=tmp_path / "lab.state")
    with running_lab(files, wanted()):
        result = environment(files)
        assert "TALOSCONFIG" not in result
        assert result["STOCKMAN_LAB_FACTORY"].endswith(":8080")
        assert machine_rows(files) == []
    assert not files.talosconfig.exists()


def test_a_kept_lab_without_machines_is_not_passed_off_as_a_cluster(tmp_path: Path) -> None:
    files = LabFiles(state=tmp_path / "lab.state")
    network = next(NETWORKS)
    with running_lab(files, wanted(network)):
        pass
    with pytest.raises(StockmanError, match=r"lab\.staged"):
        serve(files, replace(wanted(network), stage=CLUSTER), DOORS, lambda: None)


def test_a_machine_whose_port_is_taken_is_one_clear_sentence(tmp_path: Path) -> None:
    import socket
    from ipaddress import IPv4Network

    address = str(IPv4Network(NETWORK).network_address + 11)
    text = rf"lab\.port: {address}:50000 is in use"
    with (
        socket.create_server((address, 50000)),
        pytest.raises(StockmanError, match=text),
        running_cluster(tmp_path),
    ):
        pass


@pytest.mark.parametrize("preset", ["home", "empty"])
def test_presets_without_a_cluster_are_refused(preset: str) -> None:
    with pytest.raises(StockmanError, match=f"lab.stage: the preset {preset} has no Talos cluster"):
        wish(preset, "127.66.0.0/16", "9.1", "max", Manners(stage=CLUSTER))


@pytest.mark.parametrize("version", ["1.9.0", "1.10.0", "1.15.0", "1.13", "wool", "1.13.99", ""])
def test_talos_that_the_lab_does_not_know_is_refused(version: str) -> None:
    with pytest.raises(StockmanError, match=r"lab\.talos"):
        wish("single", "127.66.0.0/16", "9.1", "max", Manners(stage=CLUSTER, talos=version))


@pytest.mark.parametrize("version", ["1.11.5", "v1.13.9", "1.14.1"])
def test_talos_that_the_lab_knows_is_taken_without_its_v(version: str) -> None:
    result = wish("single", "127.66.0.0/16", "9.1", "max", Manners(stage=CLUSTER, talos=version))
    assert result.talos_version == version.removeprefix("v")
