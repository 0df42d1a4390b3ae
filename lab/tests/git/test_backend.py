"""Repositories that a lab serves, for real git."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest
from stockman_lab.git.backend import GitBackend, prepare
from stockman_lab.http.messages import Request
from stockman_lab.servers.services import GitServer

from tests.contract.repo.doors import git

URL = "https://git.test/flock/home.git"


def served(root: Path, story: Callable[[str], object]) -> None:
    async def told() -> None:
        git_door = GitServer({URL: str(root)}, lambda: 0.0)
        port = await git_door.start("127.0.0.1", 0)
        try:
            url = f"http://127.0.0.1:{port}/git.test/flock/home.git"
            await asyncio.to_thread(story, url)
        finally:
            await git_door.stop()

    asyncio.run(told())


def test_a_repository_is_made_where_there_is_none(tmp_path: Path) -> None:
    served(tmp_path / "new.git", lambda url: git(tmp_path, "ls-remote", url))
    assert (tmp_path / "new.git" / "HEAD").read_text() == "ref: refs/heads/main\n"


def test_what_is_there_stays_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "something"
    path.mkdir()
    (path / "file").write_text("mine")
    asyncio.run(prepare(path))
    assert [path.name for path in path.iterdir()] == ["file"]


def test_git_clones_and_pushes_large_things(tmp_path: Path) -> None:
    def story(url: str) -> None:
        top = tmp_path / "work"
        git(tmp_path, "clone", "--quiet", url, str(top))
        (top / "large").write_bytes(bytes(range(256)) * 20_000)
        git(top, "add", "large")
        texts = ("-c", "user.name=Shepherd", "-c", "user.email=shepherd@example.com")
        git(top, *texts, "commit", "--quiet", "--message", "Large")
        git(top, "push", "--quiet", "origin", "HEAD:refs/heads/main")
        git(tmp_path, "clone", "--quiet", "--branch", "main", url, str(tmp_path / "again"))

    served(tmp_path / "bare.git", story)
    assert (tmp_path / "again" / "large").stat().st_size == 256 * 20_000


def test_a_work_tree_is_served_too(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet", "--initial-branch=main", "work")
    gits: list[str] = []
    served(tmp_path / "work", lambda url: gits.append(git(tmp_path, "ls-remote", "--heads", url)))
    assert gits == [""]


@pytest.mark.parametrize(
    ("method", "target", "status"),
    [
        ("GET", "/git.test/other.git/info/refs?service=git-upload-pack", 404),
        ("GET", "/git.test/flock/home.git/../../etc/passwd", 404),
        ("GET", "/git.test/flock/home.git/%2e%2e/config", 404),
        ("DELETE", "/git.test/flock/home.git", 405),
        ("GET", "/git.test/flock/home.git/no/such/thing", 404),
    ],
)
def test_what_is_no_repository_is_not_found(
    tmp_path: Path, method: str, target: str, status: int
) -> None:
    async def told() -> int:
        await prepare(tmp_path / "bare.git")
        request = Request(method, target, {}, b"", "127.0.0.1", secure=False)
        return (await GitBackend({URL: str(tmp_path / "bare.git")})(request)).status

    assert asyncio.run(told()) == status


def test_a_machine_without_git_says_so(tmp_path: Path) -> None:
    backend = GitBackend({URL: str(tmp_path)}, program="git-that-is-not-there")
    request = Request("GET", "/git.test/flock/home.git/HEAD", {}, b"", "127.0.0.1", secure=False)
    assert asyncio.run(backend(request)).status == 500
