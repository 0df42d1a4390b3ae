"""Bytes that are not configuration text are refused before any parser sees them."""

from __future__ import annotations

import pytest

from stockman.config.source.tree import MAX_BYTES, Unreadable, decode_text


@pytest.mark.parametrize(
    ("content", "code", "place"),
    [
        (b"\xef\xbb\xbfa: 1", "file.byte-order-mark", "f:1:1"),
        ("a: 1".encode("utf-16"), "file.byte-order-mark", "f:1:1"),
        (b"a: 1\nb: \xff\n", "file.encoding", "f:2:4"),
        ("ä: ".encode() + b"\xe9", "file.encoding", "f:1:4"),
        (b"a" * (MAX_BYTES + 1), "file.too-large", "f"),
    ],
)
def test_what_is_not_text_is_named(content: bytes, code: str, place: str) -> None:
    with pytest.raises(Unreadable) as caught:
        decode_text("f", content)

    assert (caught.value.problem.code, str(caught.value.problem.where)) == (code, place)


def test_text_up_to_the_limit_is_fine() -> None:
    assert decode_text("f", b"a" * MAX_BYTES) == "a" * MAX_BYTES
