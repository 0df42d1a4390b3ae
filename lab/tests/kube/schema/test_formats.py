"""Formats of texts."""

from __future__ import annotations

import pytest
from stockman_lab.kube.schema.formats import has_format

GOOD = {
    "byte": "YQ==",
    "cidr": "10.42.0.0/16",
    "date": "2026-01-31",
    "date-time": "2026-01-31T12:00:00Z",
    "duration": "1h30m",
    "email": "a@example.org",
    "hostname": "a.example.org",
    "ipv4": "10.42.0.1",
    "ipv6": "fd00::1",
    "mac": "52:54:00:12:34:56",
    "uri": "https://a.example/x",
    "uuid": "6ba7b810-9dad-11d1-80b4-00c04fd430c8",
}


@pytest.mark.parametrize("form", GOOD)
def test_texts_have_their_own_format_and_nonsense_has_none(form: str) -> None:
    assert has_format(form, GOOD[form])
    assert not has_format(form, "not at all !")


def test_a_format_that_nobody_knows_is_no_rule() -> None:
    assert has_format("color-of-the-day", "anything")
