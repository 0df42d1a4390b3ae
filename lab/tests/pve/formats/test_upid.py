"""Identifiers of tasks."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stockman_lab.pve.formats.format_error import FormatError
from stockman_lab.pve.formats.upid import Upid, parse_upid

TEXT = "UPID:pve1:0003A2F1:0BADCAFE:65F0A1B2:qmcreate:100:root@pam:"
NAMES = st.from_regex(r"[a-zA-Z0-9]([a-zA-Z0-9-]*[a-zA-Z0-9])?", fullmatch=True)


def test_numbers_are_eight_upper_case_hex_digits_and_a_colon_ends_it() -> None:
    upid = Upid("pve1", 0x3A2F1, 0xBADCAFE, 0x65F0A1B2, "qmcreate", "100", "root@pam")

    assert str(upid) == TEXT
    assert parse_upid(TEXT) == upid
    assert len(TEXT.split(":")) == 9


def test_a_host_that_is_up_for_years_needs_a_ninth_digit() -> None:
    assert parse_upid(TEXT.replace("0BADCAFE", "10BADCAFE")).started_tick == 0x10BADCAFE


def test_the_object_is_often_empty_and_the_user_may_be_a_token() -> None:
    upid = parse_upid("UPID:pve1:00000001:00000002:00000003:vzdump::ops@pve!ci:")

    assert (upid.subject, upid.owner, upid.token) == ("", "ops@pve", "ci")
    assert parse_upid(TEXT).token == ""


@pytest.mark.parametrize(
    "text",
    [
        "",
        "UPID:pve1",
        TEXT[:-1],
        TEXT + "x",
        TEXT.replace("pve1", "-pve"),
        TEXT.replace("qmcreate", "qm/create"),
        TEXT.replace("0003A2F1", "3A2F1"),
        TEXT.replace("qmcreate", ""),
    ],
)
def test_anything_else_is_no_task(text: str) -> None:
    with pytest.raises(FormatError) as refused:
        parse_upid(text)

    assert refused.value.message == f"unable to parse worker upid '{text}'"


@given(NAMES, st.integers(0, 0xFFFFFFFF), st.integers(0, 0xFFFFFFFFF), st.integers(0, 0xFFFFFFFF))
def test_what_is_printed_is_what_is_read(node: str, pid: int, tick: int, at: int) -> None:
    upid = Upid(node, pid, tick, at, "qmstart", "100", "root@pam")

    assert parse_upid(str(upid)) == upid
