"""Paths lead to calls."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from stockman_lab.pve.errors import ApiError
from stockman_lab.pve.schema.schema import Schema

CONTENT = "/nodes/pve1/storage/local/content"


def test_a_path_is_decoded_once() -> None:
    schema = Schema.of("9.1")

    assert schema.route("GET", "/access/users/a%40pve").arguments == {"userid": "a@pve"}
    assert schema.route("GET", "/access/users/a%2540pve").arguments == {"userid": "a%40pve"}
    assert schema.route("GET", "/access/users/%C3%BC@pve").arguments == {"userid": "ü@pve"}
    assert schema.route("GET", "/access/users/%FC@pve").arguments == {"userid": "ü@pve"}


@given(st.sampled_from(["GET", "PUT", "", "ü"]), st.text() | st.text("/%nodes01:{}", max_size=30))
def test_no_path_breaks_the_router(method: str, path: str) -> None:
    try:
        found = Schema.of("9.1").route(method, path).operation.method
    except ApiError as refused:
        found = str(refused.status)

    assert found in {method, "501"}
