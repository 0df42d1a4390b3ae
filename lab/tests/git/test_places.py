"""Where a lab serves repositories."""

from __future__ import annotations

from pathlib import Path

import pytest
from stockman_lab.git.backend import found_place, place_of


@pytest.mark.parametrize(
    ("url", "text"),
    [
        ("https://github.com/owner/repo.git", "/github.com/owner/repo.git"),
        ("https://user:pw@git.test:8443/a/b", "/git.test/a/b"),
        ("ssh://git@git.test/owner/repo.git", "/git.test/owner/repo.git"),
        ("git@github.com:owner/repo.git", "/github.com/owner/repo.git"),
        ("file:///srv/repo.git", "/localhost/srv/repo.git"),
    ],
)
def test_a_url_has_a_place(url: str, text: str) -> None:
    assert place_of(url) == text


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("/git.test/a.git/info/refs", "/info/refs"),
        ("/git.test/a/info/refs", "/info/refs"),
        ("/git.test/a.git", ""),
    ],
)
def test_a_repository_is_found_with_its_ending_or_without(path: str, text: str) -> None:
    assert found_place({"https://git.test/a.git": "/srv/a"}, path) == (Path("/srv/a"), text)


@pytest.mark.parametrize("path", ["/git.test/ab/info/refs", "/other/a.git", "/", ""])
def test_another_path_is_nowhere(path: str) -> None:
    assert found_place({"https://git.test/a.git": "/srv/a"}, path) is None
