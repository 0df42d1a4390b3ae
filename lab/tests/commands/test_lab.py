"""Faults of a running lab are steered from the command line."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from stockman_lab.commands.control import _EFFECTS, _POINTS
from stockman_lab.commands.runtime.directories import LabFiles
from stockman_lab.core.faults import Effect, Point

from lab.tests.commands.runtime.test_serve import environment, running_lab, wanted
from tests.cli.inside import ran_inside
from tests.cli.running import Ran

Fault = Callable[..., Ran]


@pytest.fixture
def fault(tmp_path: Path) -> Iterator[Fault]:
    """Runs `stockman lab fault` on a lab of its own."""
    files = LabFiles(state=tmp_path / "lab.state")
    with running_lab(files, wanted(preset="three-node")):
        yield lambda *words: ran_inside("lab", "fault", *words, "--state", str(files.state))


def test_the_command_knows_every_point_and_effect() -> None:
    assert set(_POINTS) == {one.value for one in Point}
    assert set(_EFFECTS) == {one.value for one in Effect}


def test_a_lie_is_listed_with_what_it_is_about(fault: Fault) -> None:
    done = fault("request", "lie", "--match", "vmid=100", "--times", "always", "-o", "json")
    (listed,) = json.loads(done.out)["data"]
    assert (done.status, listed["match"]) == (0, {"vmid": "100", "method": "GET"})


@pytest.mark.parametrize(
    ("texts", "text"),
    [
        (("boot", "cut"), "`cut` means nothing at `boot`, which knows `fail`, `delay` and `hang`"),
        (("task", "delay"), "a delay without a length (`seconds`) delays nothing"),
        (("quorum", "fail", "--match", "node=neo"), "nothing at `quorum` is called `node`"),
        (("request", "lie", "--match", "method=PUT"), "`method` can only be `GET`"),
    ],
)
def test_what_makes_no_sense_is_refused_with_a_sentence(
    fault: Fault, texts: tuple[str, ...], text: str
) -> None:
    done = fault(*texts)
    assert done.status != 0
    assert "error[lab.fault]: that is no fault" in done.err
    assert text in " ".join(done.err.split())


def test_a_file_is_taken_whole_or_not_at_all(fault: Fault, tmp_path: Path) -> None:
    file = tmp_path / "faults.yaml"
    file.write_text("[{point: task, effect: fail}, {point: host, effect: lie}]")
    assert "`lie` means nothing at `host`" in fault("--file", str(file)).err
    assert json.loads(fault("-o", "json").out)["data"] == []
    file.write_text("[{point: task, effect: fail}, {point: host, effect: kill}]")
    assert fault("--file", str(file)).status == 0
    assert len(json.loads(fault("-o", "json").out)["data"]) == 2


def test_a_fault_that_is_not_there_cannot_be_taken_back(fault: Fault) -> None:
    assert "there is no fault 7" in fault("--remove", "7").err
    fault("task", "fail")
    assert fault("--remove", "1").status == 0


def test_reads_over_the_wire_are_lied_about(tmp_path: Path) -> None:
    import ssl
    from http.client import HTTPSConnection
    from urllib.parse import urlsplit

    files = LabFiles(state=tmp_path / "lab.state")
    with running_lab(files, wanted()):
        result = environment(files)
        where = urlsplit(result["PROXMOX_VE_ENDPOINT"])
        context = ssl.create_default_context(cafile=result["STOCKMAN_LAB_CA"])
        headers = {"Authorization": f"PVEAPIToken={result['PROXMOX_VE_API_TOKEN']}"}

        def asked(method: str, path: str) -> object:
            wire = HTTPSConnection(str(where.hostname), where.port, context=context, timeout=30)
            wire.request(method, f"/api2/json{path}", headers=headers)
            data = json.loads(wire.getresponse().read())["data"]
            wire.close()
            return data

        texts = ("request", "lie", "--match", "path=/pools", "--times", "2")
        ran_inside("lab", "fault", *texts, "--state", str(files.state))
        asked("POST", "/pools?poolid=wool")
        seen = [asked("GET", "/pools") for _ in range(3)]
    assert seen == [[], [], [{"poolid": "wool"}]]


def test_variables_of_a_lab_can_be_removed_from_a_shell(tmp_path: Path) -> None:
    files = LabFiles(state=tmp_path / "lab.state")
    with running_lab(files, wanted()):
        names = environment(files)
        seen = ran_inside("lab", "env", "--unset", "--state", str(files.state))

    assert seen.out.split() == ["unset", *sorted(names)]
