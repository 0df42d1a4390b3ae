"""Tickets and CSRF prevention tokens."""

from __future__ import annotations

import re

import pytest
from stockman_lab.pve.access.tickets import (
    check_csrf_token,
    make_csrf_token,
    make_ticket,
    ticket_user,
)
from stockman_lab.pve.errors import ApiError

from lab.tests.pve.access.house import NOW

KEY = bytes(32)
OTHER_KEY = bytes(31) + b"1"
USER = "ann@pve"


def test_a_ticket_has_the_shape_that_clients_know() -> None:
    ticket = make_ticket(KEY, USER, NOW)

    assert re.fullmatch(r"PVE:ann@pve:[0-9A-F]{8}::[A-Za-z0-9+/]{342}==", ticket)
    assert int(ticket.split(":")[2], 16) == NOW


def test_a_csrf_token_has_the_shape_that_clients_know() -> None:
    token = make_csrf_token(KEY, USER, NOW)

    assert re.fullmatch(r"[0-9A-F]{8}:[A-Za-z0-9+/]{43}", token)


@pytest.mark.parametrize(
    ("age", "user"),
    [(0, USER), (7199, USER), (7200, None), (-299, USER), (-300, None), (10_000_000, None)],
)
def test_a_ticket_is_good_for_two_hours_and_clocks_may_differ_by_five_minutes(
    age: int, user: str | None
) -> None:
    assert ticket_user(KEY, make_ticket(KEY, USER, NOW), NOW + age) == user


@pytest.mark.parametrize(
    "ticket",
    [
        "",
        "PVE",
        "nonsense",
        make_ticket(OTHER_KEY, USER, NOW),
        make_ticket(KEY, USER, NOW).replace("ann", "bob"),
        make_ticket(KEY, USER, NOW)[:-3],
        make_ticket(KEY, USER, NOW) + "\n",
        make_ticket(KEY, USER, NOW).split("::")[0] + "::ü",
        make_ticket(KEY, USER, NOW).replace("PVE:", "PBS:"),
        "PVE:ann@pve:ZZZZZZZZ::AAAA",
        "PVE:\udc80@pve:6B49D200::AAAA",
    ],
)
def test_a_ticket_that_is_not_ours_speaks_for_nobody(ticket: str) -> None:
    assert ticket_user(KEY, ticket, NOW) is None


def test_a_csrf_token_of_the_user_passes() -> None:
    token = make_csrf_token(KEY, USER, NOW)

    check_csrf_token(KEY, USER, token, NOW + 7199)

    with pytest.raises(ApiError):
        check_csrf_token(KEY, USER, token, NOW + 7200)


@pytest.mark.parametrize(
    "token",
    [
        None,
        "",
        "nonsense",
        make_csrf_token(KEY, "bob@pve", NOW),
        make_csrf_token(OTHER_KEY, USER, NOW),
        make_ticket(KEY, USER, NOW),
        make_csrf_token(KEY, USER, NOW)[:-1],
        make_csrf_token(KEY, USER, NOW)[:9] + "ü",
    ],
)
def test_any_other_csrf_token_is_refused(token: str | None) -> None:
    with pytest.raises(ApiError) as caught:
        check_csrf_token(KEY, USER, token, NOW)

    assert (caught.value.status, caught.value.message) == (
        401,
        "Permission denied - invalid csrf token",
    )


def test_the_signature_of_a_ticket_is_no_csrf_token() -> None:
    signature = make_ticket(KEY, USER, NOW).split("::")[1]

    with pytest.raises(ApiError):
        check_csrf_token(KEY, USER, f"{NOW:08X}:{signature[:43]}", NOW)
