"""The table of messages is made from descriptions of several versions."""

from __future__ import annotations

from scripts.write_talos_wire import MINORS, exact, merged, package_of, spans


def test_a_map_is_written_as_such_and_not_as_its_entries() -> None:
    messages, _, _ = exact(
        {
            "messages": {
                "a.B": {"labels": [5, "repeated a.B.LabelsEntry"]},
                "a.B.LabelsEntry": {
                    "key": [1, "string"],
                    "value": [2, "a.C"],
                    "#map_entry": True,
                },
            },
            "enums": {},
            "services": {},
        }
    )

    assert messages == {"a.B": {"labels": [5, "string,a.C", "map"]}}


def test_a_method_says_who_streams() -> None:
    _, _, services = exact(
        {
            "messages": {},
            "enums": {},
            "services": {"a.S": {"X": ["a.Q", "a.R", "client_stream server_stream"]}},
        }
    )

    assert services == {"a.S": {"X": ["a.Q", "a.R", "cs"]}}


def test_stretches_of_minors_have_no_gaps() -> None:
    assert spans(MINORS) == [""]
    assert spans(["1.11", "1.13", "1.14"]) == ["1.11-1.11", "1.13-1.14"]


def test_what_changed_is_written_once_for_each_of_its_forms() -> None:
    old, new = {"a.B": {"vid": [1, "fixed32", ""]}}, {"a.B": {"vid": [1, "uint32", ""]}}
    table = merged({"1.11": old, "1.12": new, "1.13": new, "1.14": new})

    assert table == {
        "a.B": [
            "",
            [["vid", 1, "fixed32", "", "1.11-1.11"], ["vid", 1, "uint32", "", "1.12-1.14"]],
        ]
    }


def test_what_is_as_old_as_its_message_says_so_once() -> None:
    table = merged(
        {"1.11": {}, "1.12": {}, "1.13": {"a.E": {"Z": [0]}}, "1.14": {"a.E": {"Z": [0]}}}
    )

    assert table == {"a.E": ["1.13-1.14", [["Z", 0]]]}


def test_a_message_inside_another_is_of_its_package() -> None:
    assert package_of("a.b.C.D", {"a.b.C", "a.b.C.D"}) == "a.b"
