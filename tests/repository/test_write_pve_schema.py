"""The script that writes the tables of the API of Proxmox VE."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from scripts.write_pve_schema import pattern, table

DISK = {"format": {"file": {"type": "string"}, "import-from": {"type": "string"}}, "type": "string"}


def call(path: str, **parameters: Any) -> dict[str, Any]:
    """One operation of a description."""
    return {
        "path": path,
        "method": "GET",
        "name": "index",
        "allowtoken": 1,
        "parameters": {"additionalProperties": 0, "properties": {"ide[n]": DISK} | parameters},
        "returns": {"type": "null"},
    }


def test_a_shape_is_written_once() -> None:
    small = {"type": "string", "maxLength": 9}

    written = json.loads(table([call("/a", one=small), call("/b", two=small)]))

    assert written["shapes"].count({"is": "s", "longest": 9}) == 1


def test_names_say_what_is_optional_and_how_many_there_are() -> None:
    number = {"type": "integer", "optional": "1"}

    groups = json.loads(table([call("/a", **{"scsi[n]": number, "vmid": {"type": "integer"}})]))

    assert {"ide*4", "scsi*31?", "vmid"} in [set(group) for group in groups["groups"]]


def test_an_argument_that_takes_the_rest_is_marked() -> None:
    written = json.loads(table([call("/storage/content/{volume}"), call("/x/{volume}")]))

    assert list(written["calls"]) == ["/storage/content/{volume*}", "/x/{volume}"]


def test_defaults_in_words_are_left_out() -> None:
    prose = {"type": "string", "default": "same as user"}

    assert "same as user" not in table([call("/a", expire=prose)])


@pytest.mark.parametrize(
    ("perl", "text"),
    [("(?^:[a-z]+)", "abc"), ("(?^i:[a-z]+)", "ABC"), (r"(?^:^(?^:\d+)$)", "12")],
)
def test_patterns_of_perl_become_ours(perl: str, text: str) -> None:
    assert re.fullmatch(pattern(perl), text)
