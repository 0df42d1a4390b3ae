"""Plain values go into messages, and come back as they were."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as some

from stockman.talos.wire.schema import load_api_schema
from stockman.talos.wire.values import Fields, InvalidFieldValue, message_values, new_message

WIRE = load_api_schema("1.14")


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("machine.Version", {"version": {"tag": "v1.14.1"}, "features": {"rbac": True}}),
        ("machine.EventsRequest", {"tail_events": -1, "tail_id": "c0ffee"}),
        ("machine.ServiceEvent", {"msg": "up", "ts": 1767225600.25}),
        ("machine.GenerateClientConfigurationRequest", {"roles": ["os:admin"], "crt_ttl": 0.5}),
        ("machine.ApplyConfigurationRequest", {"data": b"\x00\xff", "mode": "TRY"}),
        ("machine.ImageServiceListResponse", {"labels": {"b": "2", "a": "1"}}),
        ("machine.LifecycleServiceInstallProgress", {"exit_code": 0}),
        ("cosi.resource.Event", {"resource": {"spec": {}}, "bookmark": b"", "error": ""}),
        ("machine.ListRequest", {"root": "/", "types": ["DIRECTORY", "SYMLINK"]}),
        (
            "machine.Event",
            {
                "id": "1",
                "data": (
                    "talos/runtime/machine.MachineStatusEvent",
                    {"stage": "RUNNING", "status": {"ready": True}},
                ),
            },
        ),
        (
            "talos.resource.definitions.k8s.KubeletSpecSpec",
            {"config": {"a": {"b": [1.0, "x", None, True]}}},
        ),
    ],
)
def test_what_goes_in_comes_back(name: str, values: Fields) -> None:
    message = new_message(WIRE, name, values)
    again = WIRE.message(name).FromString(message.SerializeToString())

    assert message_values(WIRE, again) == values


@given(some.floats(min_value=0, max_value=4e9), some.floats(min_value=-1e6, max_value=1e6))
def test_moments_and_durations_keep_their_microseconds(moment: float, length: float) -> None:
    event = new_message(WIRE, "machine.ServiceEvent", {"ts": moment})
    ttl = new_message(WIRE, "machine.GenerateClientConfigurationRequest", {"crt_ttl": length})

    assert message_values(WIRE, event)["ts"] == pytest.approx(moment, abs=1e-6)
    assert message_values(WIRE, ttl)["crt_ttl"] == pytest.approx(length, abs=1e-6)


def test_enums_are_given_by_number_too() -> None:
    message = new_message(WIRE, "machine.ApplyConfigurationRequest", {"mode": 3})

    assert message_values(WIRE, message) == {"mode": "STAGED"}


def test_nothing_leaves_a_field_away_and_an_empty_message_does_not() -> None:
    message = new_message(WIRE, "machine.ServiceInfo", {"events": {}, "health": None})

    assert message_values(WIRE, message) == {"events": {}}


def test_a_message_goes_into_another_also_from_another_minor() -> None:
    inner = new_message(load_api_schema("1.11"), "machine.VersionInfo", {"tag": "v1.11.5"})
    message = new_message(WIRE, "machine.Version", {"version": inner})

    assert message_values(WIRE, message) == {"version": {"tag": "v1.11.5"}}


def test_fields_that_a_minor_does_not_know_are_carried_along() -> None:
    newer = new_message(load_api_schema("1.12"), "machine.RebootRequest", {"mode": "FORCE"})
    older = (
        load_api_schema("1.11")
        .message("machine.RebootRequest")
        .FromString(newer.SerializeToString())
    )

    assert message_values(load_api_schema("1.11"), older) == {"mode": 2}
    assert older.SerializeToString() == newer.SerializeToString()


@pytest.mark.parametrize(
    "values",
    [
        {"nothing": 1},
        {"mode": "SOMEHOW"},
        {"data": "text"},
        {"data": 5},
        {"try_mode_timeout": "soon"},
        {"dry_run": []},
    ],
)
def test_what_does_not_fit_is_told(values: Fields) -> None:
    with pytest.raises(InvalidFieldValue, match=r"machine\.ApplyConfigurationRequest"):
        new_message(WIRE, "machine.ApplyConfigurationRequest", values)


def test_an_unknown_thing_in_an_any_is_left_unread() -> None:
    message = WIRE.message("machine.Event")()
    raw = b"\x12\x09\x0a\x07a/b.Cde"
    message.ParseFromString(raw)

    assert message_values(WIRE, message) == {"data": ("a/b.Cde", {})}
