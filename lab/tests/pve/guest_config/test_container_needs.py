"""What a user has to be allowed to change each key of a container."""

from __future__ import annotations

import pytest
from stockman_lab.pve.formats.volume_name import VolumeName, parse_volume_id, parse_volume_name
from stockman_lab.pve.guest_config.container_needs import (
    container_key_needs,
)
from stockman_lab.pve.guest_config.needs import Asked, Guest, OnlyRoot


def name_of(volume: str) -> VolumeName:
    """What the name of a volume on a thin pool says."""
    return parse_volume_name("lvmthin", parse_volume_id(volume)[1])


GUEST = Guest(200, name_of)
UNPRIVILEGED = {"unprivileged": "1"}


def refusal(need: Asked) -> tuple[int, str]:
    """Status and text of a refusal."""
    assert isinstance(need, OnlyRoot)
    return need.error.status, need.error.message


@pytest.mark.parametrize(
    ("key", "why"),
    [
        ("dev0", "configuring device passthrough is only allowed for root@pam"),
        ("hookscript", "changing the hookscript is only allowed for root@pam"),
    ],
)
def test_devices_and_scripts_are_only_for_root(key: str, why: str) -> None:
    (need,) = container_key_needs(GUEST, key, {}, "x")

    assert refusal(need) == (403, f"Permission check failed ({why})")


def test_the_same_features_take_nothing() -> None:
    values = {**UNPRIVILEGED, "features": "fuse=1,nesting=1"}

    assert container_key_needs(GUEST, "features", values, "nesting=1,fuse=1") == []


def test_features_of_a_privileged_container_are_only_for_root() -> None:
    (need,) = container_key_needs(GUEST, "features", {}, "nesting=1")

    why = "changing feature flags for privileged container is only allowed for root@pam"
    assert refusal(need) == (403, f"Permission check failed ({why})")
