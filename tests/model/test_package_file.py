"""Files beside the code are found through the loader of their package."""

from __future__ import annotations

import pytest

from stockman.model.package_file import read_package_bytes, read_package_text


def test_a_file_of_a_package_is_read() -> None:
    assert read_package_text("stockman.rendering.templates", "known_hosts.txt").startswith(
        "github.com "
    )


def test_bytes_and_text_are_the_same_file() -> None:
    text = read_package_text("stockman.rendering.templates", "known_hosts.txt")
    assert read_package_bytes("stockman.rendering.templates", "known_hosts.txt") == text.encode()


def test_a_file_that_is_not_there_is_an_error() -> None:
    with pytest.raises(FileNotFoundError):
        read_package_text("stockman.rendering.templates", "absent.txt")
