"""Tables of profiles, and what they say of calls."""

from __future__ import annotations

import pytest
from stockman_lab.pve.schema.schema import Schema

CONFIG = "/nodes/{node}/qemu/{vmid}/config"


def test_an_unknown_profile_is_refused() -> None:
    with pytest.raises(ValueError, match=r"no profile '7\.0'; there are 8\.4, 9\.1"):
        Schema.of("7.0")


@pytest.mark.parametrize(("profile", "calls"), [("8.4", 605), ("9.1", 649)])
def test_all_calls_are_there(profile: str, calls: int) -> None:
    assert len(Schema.of(profile).operations) == calls
