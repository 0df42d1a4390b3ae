"""The list of rendered files."""

from __future__ import annotations

import pytest

from stockman.model.errors import Rejected
from stockman.rendering.managed_files import ManagedFile, lock_text, read_lock

OWNED = {
    "b.yaml": ManagedFile(digest="22", component="echo"),
    "a.yaml": ManagedFile(digest="11", component="repository", accepted="33"),
}


def test_what_is_written_is_read_back() -> None:
    assert read_lock(lock_text(OWNED)) == OWNED
    assert read_lock(lock_text({})) == {}


def test_entries_have_lines_of_their_own_and_are_sorted() -> None:
    lines = lock_text(OWNED).splitlines()
    (first, second) = [line for line in lines if ".yaml" in line]
    assert "a.yaml" in first
    assert "b.yaml" in second


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        '{"schema": 2, "files": {}}',
        '{"schema": 1}',
        '{"schema": 1, "files": {"a": 1}}',
        '{"schema": 1, "files": {"a": {"component": "echo"}}}',
        '{"schema": 1, "files": {"a": {"sha256": 1, "component": "echo"}}}',
    ],
)
def test_a_broken_list_is_refused(text: str) -> None:
    with pytest.raises(Rejected) as caught:
        read_lock(text)
    assert caught.value.problem.code == "render.lock"
