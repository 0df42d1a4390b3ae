"""A minute of hypothesis on both readers: every text is a tree or a problem, and soon."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress

import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st

from stockman.config.source.toml_reader import read_toml
from stockman.config.source.tree import MappingNode, Unreadable, decode_text, to_plain_data
from stockman.config.source.yaml_reader import read_yaml

Reader = Callable[[str, str], MappingNode]

SECONDS = 30
"""For each of the two readers."""
LONGEST = 5.0
"""Seconds that one text may take on a busy machine before it counts as a hang."""

lines = st.lists(
    st.from_regex(
        r"[ \t]{0,6}([a-z_]{1,8}[:=] ?|- |\[{1,2}[a-z.]{1,9}\]{0,2}|[#&*!|>'\"{}\[\],?@%])*"
    )
    | st.text(max_size=30),
    max_size=30,
).map("\n".join)
contents = st.binary(max_size=300) | lines.map(str.encode) | st.text(max_size=300).map(str.encode)


@pytest.mark.parametrize("reader", [read_yaml, read_toml], ids=["yaml", "toml"])
def test_half_a_minute_of_any_bytes_finds_no_trace_and_no_hang(reader: Reader) -> None:
    count = 0

    def understand(content: bytes) -> None:
        nonlocal count
        count += 1
        begin = time.monotonic()
        with suppress(Unreadable):
            to_plain_data(reader("f", decode_text("f", content)))
        assert time.monotonic() - begin < LONGEST

    end = time.monotonic() + SECONDS
    start = time.time_ns() % 10**9
    while time.monotonic() < end:
        start += 1
        batch = settings(max_examples=300, deadline=None, database=None)(
            given(contents)(understand)
        )
        seed(start)(batch)()
    print(f"{count} texts, last seed {start}")
    assert count > 300
