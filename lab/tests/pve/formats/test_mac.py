"""Addresses of network cards that nobody chose."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stockman_lab.pve.formats.checks import unicast_mac
from stockman_lab.pve.formats.nic import new_mac

from lab.tests.pve.throws import Counting


def test_an_address_starts_with_the_prefix_in_upper_case() -> None:
    assert new_mac(Counting(0xAABBCB)) == "BC:24:11:AA:BB:CC"
    assert new_mac(Counting(), "02:ab") == "02:AB:00:00:00:01"


@given(st.integers(min_value=0, max_value=(1 << 48) - 2), st.sampled_from(["BC:24:11", "bc", ""]))
def test_every_address_is_of_one_card(thrown: int, prefix: str) -> None:
    unicast_mac(new_mac(Counting(thrown), prefix))


@pytest.mark.parametrize("count", [2, 20])
def test_no_two_throws_give_the_same_address(count: int) -> None:
    dice = Counting()

    assert len({new_mac(dice) for _ in range(count)}) == count
