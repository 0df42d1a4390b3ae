"""Addresses of Git repositories."""

import pytest

from stockman.model.git_address import git_host


@pytest.mark.parametrize(
    ("url", "server"),
    [
        ("https://github.com/owner/meadow.git", "github.com"),
        ("ssh://git@git.example.com:2222/owner/meadow.git", "git.example.com"),
        ("ssh://git.example.com/owner/meadow.git", "git.example.com"),
        ("git@gitlab.com:owner/meadow.git", "gitlab.com"),
    ],
)
def test_the_server_of_an_address(url: str, server: str) -> None:
    assert git_host(url) == server
