"""Talos machines of a lab on the command line."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from stockman_lab.commands.runtime.directories import LabFiles

from lab.tests.commands.runtime.clusters import running_cluster
from stockman.cli.terminal.styles import format_duration
from tests.cli.inside import ran_inside
from tests.cli.running import Ran

Lab = Callable[..., Ran]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabFiles]:
    with running_cluster(tmp_path_factory.mktemp("cluster")) as files:
        yield files


@pytest.fixture
def lab(cluster: LabFiles) -> Lab:
    """Runs a command of `stockman lab` on a lab with one machine."""
    return lambda *words: ran_inside("lab", *words, "--state", str(cluster.state))


def test_machines_are_listed_with_their_stages(lab: Lab) -> None:
    lines = lab("machine").out.splitlines()
    assert lines[0].split() == ["MACHINE", "ADDRESS", "STAGE", "VERSION", "READY"]
    assert lines[1].split()[0::2] == ["talos-1", "running", "yes"]
    (row,) = json.loads(lab("machine", "-o", "json").out)["data"]
    assert (row["name"], row["version"]) == ("talos-1", "v1.13.9")
    assert lines[1] in lab("status").out


def test_talos_without_a_cluster_is_refused_before_anything_starts(tmp_path: Path) -> None:
    state = tmp_path / "lab.state"
    done = ran_inside("lab", "up", "--talos", "1.13.9", "--state", str(state))
    assert done.status == 64
    assert "--talos needs --stage cluster" in done.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("seconds", "text"), [(3.9, "3s"), (60, "1m0s"), (3723, "1h2m3s"), (100_000, "27h46m40s")]
)
def test_durations_are_written_as_talos_does(seconds: float, text: str) -> None:
    assert format_duration(seconds) == text


@pytest.mark.parametrize(
    ("texts", "text"),
    [
        (("talos-call", "fail", "--status", "503"), "have a status from 1 to 16, and 503 is none"),
        (("request", "fail", "--status", "14"), "have a status from 400 to 599, and 14 is none"),
    ],
)
def test_a_status_is_one_of_the_point(lab: Lab, texts: tuple[str, ...], text: str) -> None:
    assert text in " ".join(lab("fault", *texts).err.split())
