"""Which storage gets what of which on another host."""

from __future__ import annotations

import pytest
from stockman_lab.pve.errors import ApiError
from stockman_lab.pve.qemu.migrating import parse_storage_map


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("a:b,a:c", "duplicate mapping for source 'a'"),
        ("x,y", "default target ID can only be provided once"),
        ("1,x", "identity mapping cannot be combined with other mappings"),
    ],
)
def test_contradictions_are_refused(text: str, why: str) -> None:
    with pytest.raises(ApiError) as caught:
        parse_storage_map(text)

    assert caught.value.errors == {"targetstorage": f"failed to parse storage map: {why}\n"}
