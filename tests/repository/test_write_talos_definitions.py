"""The table of resource definitions is made from descriptions of several versions."""

from __future__ import annotations

import pytest

from scripts.write_talos_definitions import MINORS, _row, definition, merged, spans

DEFINITION = {
    "type": "LinkStatuses.net.talos.dev",
    "display": "LinkStatus",
    "aliases": ["link"],
    "all_aliases": ["linkstatuses", "linkstatuses.net", "linkstatuses.net.talos", "link"],
    "namespace": "network",
    "sensitivity": "",
    "columns": [["Type", "{.type}"]],
}


def test_stretches_of_minors_have_no_gaps() -> None:
    assert spans(MINORS) == ""
    assert spans(["1.11", "1.13", "1.14"]) == "1.11-1.11 1.13-1.14"


def test_what_came_later_stands_in_its_place_with_its_minors() -> None:
    old, new = [["a", 1, "", ""], ["c", 3, "", ""]], [["a", 1, "", ""], ["b", 2, "o", ""]]

    assert merged({"1.11": old, "1.12": old, "1.13": old, "1.14": [*new, old[1]]}) == [
        ["a", 1],
        ["b", 2, "o", "", "1.14-1.14"],
        ["c", 3],
    ]


@pytest.mark.parametrize(
    ("line", "row"),
    [
        ('Index uint32 `yaml:"index" protobuf:"1"`', ["index", 1, "", ""]),
        ('VLAN VLANSpec `yaml:"vlan,omitempty" protobuf:"26"`', ["vlan", 26, "o", ""]),
        ('CA *x509.Pair `yaml:"ca" protobuf:"2"`', ["ca", 2, "p", ""]),
        ('Local netip.Addr `yaml:"local,omitempty" protobuf:"2"`', ["local", 2, "on", ""]),
        ('MAC nethelpers.HardwareAddr `yaml:"mac" protobuf:"5"`', ["mac", 5, "", "mac"]),
        ('Pod map[string]any `protobuf:"1"`', ["", 1, "i", ""]),
        ('Done bool `yaml:"done"`', None),
        ("// a remark", None),
    ],
)
def test_a_field_is_read(line: str, row: list[object] | None) -> None:
    assert _row(f"\t{line}") == row


def test_automatic_aliases_are_not_written_down() -> None:
    assert definition(DEFINITION)[2] == ["link"]
    assert definition(DEFINITION)[6] == 1


def test_aliases_that_follow_no_rule_are_refused() -> None:
    with pytest.raises(SystemExit, match="follow no rule"):
        definition({**DEFINITION, "all_aliases": ["elsewhere"]})
