"""Every talosctl gets the resources of machines of its own minor, in every form it knows.

Half of the kinds are asked for by each version here, in one form each; `tests/soak` asks for all.
What is expected of the forms is in talosctl-calls.md, section 4; texts come from the programs.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import Popen
from typing import IO

import pytest
import yaml
from stockman_lab.talos.cosi.registry import claimed
from stockman_lab.talos.cosi.tables import definitions

from lab.tests.talos.cosi.handmade import HandMade, handmade_land, waiting_machine
from tests.real.talos_served import Asked, served_land
from tests.real.talosctl import FORMS, VERSIONS, Talosctl, judged

ADDRESS = {version: f"127.52.{place}.1" for place, version in enumerate(VERSIONS)}
WAITING = {version: f"127.52.{place}.9" for place, version in enumerate(VERSIONS)}
"""Every version has machines of its own."""


class Served:
    """Machines of one minor, and the program of the same one."""

    def __init__(self, talosctl: Talosctl, machines: list[HandMade], asked: Asked) -> None:
        self.talosctl = talosctl
        self.machines = machines
        self.asked = asked

    @property
    def minor(self) -> str:
        return self.machines[0].minor


@pytest.fixture(scope="module", params=VERSIONS)
def served(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    real_tool: Callable[[str], Path],
) -> Iterator[Served]:
    version = str(request.param)
    minor = version.rpartition(".")[0]
    land = handmade_land(minor, ADDRESS[version])
    land.machines.append(waiting_machine(land, minor, WAITING[version]))
    folder = tmp_path_factory.mktemp("talosctl")
    with served_land(land, folder) as requests:
        program = Talosctl(real_tool(f"talosctl@{version}"), folder, ADDRESS[version])
        yield Served(program, land.machines, requests)


def test_every_kind_is_got_in_some_form(served: Served) -> None:
    place = VERSIONS.index(
        next(version for version in VERSIONS if version.startswith(served.minor))
    )
    kinds = list(claimed())
    chosen = [
        (name, FORMS[(number // 2 + place) % len(FORMS)])
        for number, name in enumerate(kinds)
        if (number + place) % 2 == 0 and name.lower() in definitions(served.minor)
    ]

    twin = handmade_land(served.minor, served.machines[0].address).machines[0]

    assert judged(served.talosctl, twin, chosen) == []


def test_definitions_and_namespaces_are_listed(served: Served) -> None:
    output = served.talosctl.output("get", "rd", "-o", "json")
    names = [document["metadata"]["id"] for document in _documents(output)]

    assert names == sorted(definitions(served.minor))
    assert "Talos node configuration." in served.talosctl.output("get", "namespaces", "-o", "yaml")


def test_an_unknown_kind_is_not_registered(served: Served) -> None:
    found = served.talosctl.run("get", "cows")

    assert found.returncode == 1
    assert 'code = NotFound desc = resource "cows" is not registered' in found.stderr


def test_a_short_name_of_several_kinds_is_ambiguous(served: Served) -> None:
    found = served.talosctl.run("get", "ns")

    assert found.returncode == 1
    assert 'resource type "ns" is ambiguous' in found.stderr


def test_a_resource_that_is_not_there_is_not_found(served: Served) -> None:
    found = served.talosctl.run("get", "links", "eth9")

    assert found.returncode == 1
    expected = "resource LinkStatuses.net.talos.dev(network/eth9@undefined) doesn't exist"
    assert expected in found.stderr


def test_readers_get_no_secrets(served: Served) -> None:
    reader = served.talosctl.as_role("os:reader")

    assert "controlplane" in reader.output("get", "machinetype")
    found = reader.run("get", "mc")
    assert found.returncode == 1
    assert "code = PermissionDenied desc = not authorized" in found.stderr


def test_the_configuration_comes_out_as_it_went_in(served: Served) -> None:
    text = served.talosctl.output("get", "mc", "v1alpha1", "-o", "yaml")
    spec = yaml.safe_load(text)["spec"]
    documents = list(yaml.safe_load_all(served.machines[0].state.config))
    first = spec if isinstance(spec, dict) else next(yaml.safe_load_all(spec))

    assert first == documents[0]


def test_other_machines_are_asked_through_the_first(served: Served) -> None:
    second = served.machines[1].address
    output = served.talosctl.output("get", "hostname", "-n", second)

    assert second in output
    assert "ctrl-2" in output


def test_a_machine_in_maintenance_tells_its_disks(served: Served) -> None:
    insecure = served.talosctl.insecure(served.machines[3].address, "get", "disks")

    assert insecure.returncode == 0, insecure.stderr
    assert "34 GB" in insecure.stdout


def test_a_follower_is_told_of_changes(served: Served) -> None:
    machine = served.machines[0]
    healthy = machine.state.services["trustd"]
    following = served.talosctl.start("get", "services", "--watch")
    with following as process:
        output = _lines(process)
        try:
            _until(output, "trustd")
            served.asked(lambda: setattr(healthy, "is_healthy", False))
            changed = _until(output, "trustd")
            served.asked(lambda: setattr(healthy, "state", "Finished"))
            gone = _until(output, "trustd")
        finally:
            process.terminate()
            served.asked(lambda: setattr(healthy, "is_healthy", True))
            served.asked(lambda: setattr(healthy, "state", "Running"))

    assert changed.split()[-4:] == ["2", "true", "false", "false"]
    assert gone.split()[1] == "-"


def test_members_and_the_authority_are_understood(served: Served, tmp_path: Path) -> None:
    """Both are read from the messages, not from the YAML."""
    ran = served.talosctl.run("rotate-ca", "--output", str(tmp_path / "talosconfig"))
    stdout = ran.stdout + ran.stderr
    crt = next(yaml.safe_load_all(served.machines[0].state.config))["machine"]["ca"]["crt"]

    assert f'- control plane nodes: ["{served.machines[0].addresses[1]}"' in stdout
    assert crt in stdout


def _documents(text: str) -> Iterator[dict[str, dict[str, str]]]:
    decoder, place = json.JSONDecoder(), 0
    while place < len(text.rstrip()):
        found, place = decoder.raw_decode(text, place)
        while place < len(text) and text[place].isspace():
            place += 1
        yield found


def _lines(process: Popen[str]) -> IO[str]:
    assert process.stdout is not None
    return process.stdout


def _until(lines: IO[str], word: str) -> str:
    for line in lines:
        if word in line:
            return line
    raise AssertionError(f"{word} did not come")
