"""The comparison with a real Talos machine only reads, and prints shapes, never values."""

from __future__ import annotations

from pathlib import Path

import pytest
from stockman_lab.talos.api.roles import only_reads
from stockman_lab.testing.thread import TalosLab

from scripts.compare_with_talos import CALLS, differences, main
from scripts.talos_shapes import message_paths, spec_paths
from stockman.talos.wire.schema import load_api_schema
from stockman.talos.wire.values import new_message

HOSTNAME = "network.HostnameStatusSpec"


@pytest.mark.talos_lab(talos="1.13.9")
def test_a_lab_does_not_differ_from_the_lab(
    talos_lab: TalosLab, capsys: pytest.CaptureFixture[str]
) -> None:
    (machine,) = talos_lab.world.talos.machines
    before = machine.state.events_made
    status = main(["--talosconfig", str(talos_lab.talosconfig)])
    printed = capsys.readouterr()
    assert printed.out == ""
    assert status == 0
    assert int(printed.err.split()[0]) > 150
    assert "talos-1" not in printed.err
    assert machine.state.events_made == before


def test_all_calls_only_read() -> None:
    assert [name for service, name, _ in CALLS if not only_reads(f"/{service}/{name}")] == []


@pytest.mark.talos_lab(talos="1.13.9")
def test_who_finds_nobody_is_told_so(
    talos_lab: TalosLab, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    talos_lab.fault("network", "fail", times=None)
    assert main(["--talosconfig", str(talos_lab.talosconfig)]) == 2
    assert f"{talos_lab.endpoints[0]} does not answer: " in capsys.readouterr().err
    empty = tmp_path / "talosconfig"
    empty.write_text("context: wool\n")
    assert main(["--talosconfig", str(empty)]) == 2
    assert "has no context" in capsys.readouterr().err
    assert main(["--talosconfig", str(tmp_path / "none")]) == 2
    assert "cannot be read" in capsys.readouterr().err


def test_fields_that_are_filled_and_fields_that_nobody_knows_are_places() -> None:
    message = new_message(load_api_schema("1.13"), "machine.Memory", {"meminfo": {"memtotal": 5}})
    message.MergeFromString(b"\xf8\x07\x01")  # field 127, a number
    assert sorted(message_paths(message, "Memory")) == [
        ("Memory.#127", "unknown"),
        ("Memory.meminfo", "message"),
        ("Memory.meminfo.memtotal", "value"),
    ]


def test_keys_that_the_lab_does_not_know_are_told_and_names_of_users_are_not() -> None:
    known = dict(spec_paths(HOSTNAME, "1.13", {"hostname": "neo", "wool": 1}, "Hostname"))
    assert known == {"Hostname.hostname": "str", "Hostname.wool": "unknown"}
    rows = list(spec_paths("k8s.NodeLabelSpecSpec", "1.13", {"key": "a", "value": "b"}, "L"))
    assert rows == [("L.key", "str"), ("L.value", "str")]


NOTHING: dict[str, set[str]] = {}
KNOWN = {"a/B.y": {"value"}}


@pytest.mark.parametrize(
    ("mine", "lab", "difference"),
    [
        ({"a/B.x": {"value"}}, KNOWN, "a/B.x is never told by the lab"),
        ({"a/B.#9": {"unknown"}}, KNOWN, "a/B.#9 is not known to the lab"),
        ({"(refused)": {"UNIMPLEMENTED"}}, KNOWN, "a/B is not there, and is in the lab"),
        (KNOWN, {"(refused)": {"INTERNAL"}}, "a/B is refused in the lab: INTERNAL"),
        (KNOWN, NOTHING, "a/B has none in the lab"),
        ({"a/B.y": {"str"}}, {"a/B.y": {"bool"}}, "a/B.y is str, and bool in the lab"),
        ({"(refused)": {"UNAVAILABLE"}}, KNOWN, ""),
        (NOTHING, KNOWN, ""),
    ],
)
def test_differences_are_told_by_name(
    mine: dict[str, set[str]], lab: dict[str, set[str]], difference: str
) -> None:
    assert list(differences({"a/B": mine}, {"a/B": lab})) == ([difference] if difference else [])


def test_what_only_one_of_them_has_is_told() -> None:
    assert list(differences({"a/B": {}}, {})) == ["a/B is not known to the lab"]
    assert list(differences({}, {"a/B": {}})) == ["a/B is there in the lab alone"]
