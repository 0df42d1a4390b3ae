"""Addresses of Git repositories."""

import pytest

from stockman.assessment.doctor.servers import GitAddress, git_address
from tests.app.doctor.fakes import PLANTED


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("https://git.test/owner/repo.git", GitAddress("git.test", 443, "owner/repo", False)),
        ("https://git.test:8443/a/b/c/", GitAddress("git.test", 8443, "a/b/c", False)),
        ("http://git.test/owner/repo", GitAddress("git.test", 80, "owner/repo", False)),
        ("ssh://git@git.test/owner/repo.git", GitAddress("git.test", 22, "owner/repo", False)),
        ("ssh://git.test:2222/~me/repo", GitAddress("git.test", 2222, "~me/repo", False)),
        ("git@git.test:owner/repo.git", GitAddress("git.test", 22, "owner/repo", False)),
        ("git.test:repo", GitAddress("git.test", 22, "repo", False)),
        ("https://me:pw@git.test/o/r", GitAddress("git.test", 443, "o/r", True)),
        ("https://token@git.test/o/r", GitAddress("git.test", 443, "o/r", True)),
    ],
)
def test_an_address_names_server_and_path(text: str, address: GitAddress) -> None:
    assert git_address(text) == address


@pytest.mark.parametrize(
    "text",
    [
        "/srv/git/repo.git",
        "../repo",
        "file:///srv/git",
        "https://",
        "https://h:99999/x",
        "",
        "x://h",
    ],
)
def test_a_place_on_this_machine_has_no_server(text: str) -> None:
    assert git_address(text) is None


def test_one_repository_is_the_same_by_whatever_way() -> None:
    by_ssh, by_web = (
        git_address("git@Git.test:Owner/repo.git"),
        git_address("https://git.test/owner/repo"),
    )

    assert by_ssh is not None
    assert by_web is not None
    assert by_ssh.is_same(by_web)


def test_a_password_is_never_shown() -> None:
    assert str(git_address(f"https://me:{PLANTED}@git.test/o/r")) == "git.test/o/r"
