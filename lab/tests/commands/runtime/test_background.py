"""A lab in the background is not called ready before it is."""

from __future__ import annotations

from pathlib import Path

import pytest
from stockman_lab.commands.inspect import machine_rows
from stockman_lab.commands.runtime.background import MACHINE, detached, ended, failed
from stockman_lab.commands.runtime.directories import LabFiles
from stockman_lab.commands.runtime.remote import tell
from stockman_lab.commands.runtime.serve import is_locked

from lab.tests.commands.runtime.test_serve import NETWORKS, running_lab, wanted
from stockman.model.errors import StockmanError
from tests.cli.running import REAL, ran


def test_a_cluster_answers_as_soon_as_it_is_called_ready(tmp_path: Path) -> None:
    files = LabFiles(state=tmp_path / "lab.state")
    texts = ("--stage", "cluster", "--preset", "single", "--talos", "1.13.9")
    where = ("--network", next(NETWORKS), "--state", str(files.state))
    done = ran("lab", "up", *texts, *where, "--detach", program=REAL)
    assert done.status == 0
    try:
        (row,) = machine_rows(files)
        assert (row["version"], row["ready"]) == ("v1.13.9", True)
        stages = [f"{MACHINE}talos-1: {stage}" for stage in ("made", "booting", "running")]
        assert done.err.splitlines()[:-1] == stages
    finally:
        tell(files, "down", {})
        ended(files)
    assert files.state.exists()
    assert not is_locked(files)


def test_what_keeps_it_from_starting_is_told_without_how_far_machines_were(tmp_path: Path) -> None:
    text = f"{MACHINE}talos-1: made\nerror[lab.port]: 127.66.0.4:8006 is in use\n"
    problem = failed(LabFiles(state=tmp_path / "lab.state"), text)
    assert problem.why == "error[lab.port]: 127.66.0.4:8006 is in use"


def test_one_that_cannot_start_is_told_at_once(tmp_path: Path) -> None:
    network = next(NETWORKS)
    with running_lab(LabFiles(state=tmp_path / "one.state"), wanted(network)):
        files = LabFiles(state=tmp_path / "two.state")
        with pytest.raises(StockmanError, match=r"lab\.start") as caught:
            detached(files, wanted(network))
    assert "8006 is in use" in caught.value.problem.why
    assert not files.run.exists()
