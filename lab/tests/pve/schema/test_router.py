"""Paths lead to calls."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stockman_lab.pve.errors import ApiError
from stockman_lab.pve.schema.schema import PROFILES, Schema

CONTENT = "/nodes/pve1/storage/local/content"


@pytest.mark.parametrize("profile", PROFILES)
def test_every_call_is_found_by_its_own_path(profile: str) -> None:
    schema = Schema.of(profile)

    for method, path in schema.operations:
        routed = schema.route(method, path)
        assert (routed.operation.method, routed.operation.path) == (method, path)
        assert all(value == f"{{{name}}}" for name, value in routed.arguments.items())


def test_arguments_are_read_from_the_path() -> None:
    routed = Schema.of("9.1").route("GET", "/nodes/pve1/qemu/100/status/current")

    assert routed.operation.path == "/nodes/{node}/qemu/{vmid}/status/current"
    assert routed.arguments == {"node": "pve1", "vmid": "100"}


@pytest.mark.parametrize("path", ["//nodes//pve1/qemu/100/", "/nodes/pve1/qemu/100//"])
def test_slashes_too_many_do_not_count(path: str) -> None:
    routed = Schema.of("9.1").route("DELETE", path)

    assert routed.arguments == {"node": "pve1", "vmid": "100"}


@pytest.mark.parametrize("volume", ["local:iso%2Fa.iso", "local:iso/a.iso", "local:iso//a.iso/"])
def test_a_volume_takes_the_rest_of_the_path(volume: str) -> None:
    routed = Schema.of("9.1").route("GET", f"{CONTENT}/{volume}")

    assert routed.arguments["volume"] == "local:iso/a.iso"


def test_a_network_in_a_set_of_addresses_takes_the_rest_of_the_path() -> None:
    routed = Schema.of("9.1").route("GET", "/cluster/firewall/ipset/pasture/10.0.0.0/24")

    assert routed.arguments == {"name": "pasture", "cidr": "10.0.0.0/24"}


def test_a_path_is_decoded_once() -> None:
    schema = Schema.of("9.1")

    assert schema.route("GET", "/access/users/a%40pve").arguments == {"userid": "a@pve"}
    assert schema.route("GET", "/access/users/a%2540pve").arguments == {"userid": "a%40pve"}
    assert schema.route("GET", "/access/users/%C3%BC@pve").arguments == {"userid": "ü@pve"}
    assert schema.route("GET", "/access/users/%FC@pve").arguments == {"userid": "ü@pve"}


@pytest.mark.parametrize(
    ("method", "path", "said"),
    [
        ("GET", "/x", "/x"),
        ("PATCH", "/version", "/version"),
        ("POST", "/version", "/version"),
        ("GET", "/version/deeper", "/version/deeper"),
        ("GET", "/nodes/a%20b/status", "/nodes/a b/status"),
        ("POST", "", "/"),
    ],
)
def test_what_does_not_exist_is_not_implemented(method: str, path: str, said: str) -> None:
    with pytest.raises(ApiError) as refused:
        Schema.of("9.1").route(method, path)

    assert refused.value.status == 501
    assert refused.value.message == f"Method '{method} {said}' not implemented"


def test_each_profile_has_its_own_calls() -> None:
    assert Schema.of("9.1").route("GET", "/cluster/ha/rules").operation.name == "index"
    with pytest.raises(ApiError, match="'GET /cluster/ha/rules' not implemented"):
        Schema.of("8.4").route("GET", "/cluster/ha/rules")


@given(st.sampled_from(["GET", "PUT", "", "ü"]), st.text() | st.text("/%nodes01:{}", max_size=30))
def test_no_path_breaks_the_router(method: str, path: str) -> None:
    try:
        found = Schema.of("9.1").route(method, path).operation.method
    except ApiError as refused:
        found = str(refused.status)

    assert found in {method, "501"}
