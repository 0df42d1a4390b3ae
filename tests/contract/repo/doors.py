"""Backends that the contract of `ports.repo.Repo` is run on.

A door is a function that takes a story and a directory, and tells the story to a fresh repository
with an empty remote. Another backend is one more line in `BACKENDS`.
"""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from typing import Protocol

from stockman_lab.git.backend import place_of, prepare
from stockman_lab.servers.services import GitServer

from stockman.adapters.git.probe import git_environment
from stockman.adapters.git.repository import LocalGitRepository
from stockman.ports.repository import GitRepository
from tests.contract.repo.memory import MemoryRemote, MemoryRepo

URL = "https://git.test/flock/home.git"


class Scene(Protocol):
    """What a story plays in: a repository, and what people do to it meanwhile."""

    @property
    def repo(self) -> GitRepository: ...

    def write(self, path: str, content: bytes | None) -> None:
        """Change a file of the work tree; None removes it."""
        ...

    def stage(self, path: str) -> None:
        """Add a file to what somebody commits next."""
        ...

    def staged(self) -> set[str]:
        """Files whose staged content is another than that of the last commit."""
        ...

    def ignore(self, path: str) -> None:
        """Let a file be ignored."""
        ...

    def forget_who(self) -> None:
        """Take the identity of who commits away."""
        ...

    def detach(self) -> None:
        """Leave all branches."""
        ...

    def lose_remote(self) -> None:
        """Take the remote away."""
        ...

    def other(self) -> Scene:
        """Somebody else with a repository of the same remote, at its newest commit."""
        ...


Story = Callable[[Scene], Awaitable[None]]


class MemoryScene:
    """A repository in memory."""

    def __init__(self, remote: MemoryRemote) -> None:
        self._remote = remote
        self.repo = MemoryRepo(remote)

    def write(self, path: str, content: bytes | None) -> None:
        if content is None:
            self.repo.files.pop(path, None)
        else:
            self.repo.files[path] = content

    def stage(self, path: str) -> None:
        self.repo.staged[path] = self.repo.files.get(path)

    def staged(self) -> set[str]:
        return set(self.repo.staged)

    def ignore(self, path: str) -> None:
        self.repo.ignored.add(path)

    def forget_who(self) -> None:
        self.repo.has_identity = False

    def detach(self) -> None:
        self.repo.branch = None

    def lose_remote(self) -> None:
        self.repo.remote = None

    def other(self) -> MemoryScene:
        memory_scene = MemoryScene(self._remote)
        memory_scene.repo.clone()
        return memory_scene


class GitScene:
    """A real repository."""

    def __init__(self, root: Path, url: str) -> None:
        self._root = root
        self._url = url
        self.top = root / f"work{len(list(root.glob('work*')))}"
        git(root, "clone", "--quiet", url, str(self.top))
        git(self.top, "symbolic-ref", "HEAD", "refs/heads/main")
        if "origin/main" in git(self.top, "branch", "--remotes"):
            git(self.top, "reset", "--quiet", "--hard", "origin/main")
        git(self.top, "config", "user.name", "Shepherd")
        git(self.top, "config", "user.email", "shepherd@example.com")
        self.repo = LocalGitRepository(self.top)

    def write(self, path: str, content: bytes | None) -> None:
        place = self.top / path
        if content is None:
            place.unlink()
            return
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)

    def stage(self, path: str) -> None:
        git(self.top, "add", "--", path)

    def staged(self) -> set[str]:
        return set(git(self.top, "diff", "--cached", "--name-only").split())

    def ignore(self, path: str) -> None:
        with (self.top / ".git" / "info" / "exclude").open("a") as file:
            file.write(f"/{path}\n")

    def forget_who(self) -> None:
        git(self.top, "config", "--unset", "user.email")

    def detach(self) -> None:
        git(self.top, "checkout", "--quiet", "--detach")

    def lose_remote(self) -> None:
        git(self.top, "remote", "remove", "origin")

    def other(self) -> GitScene:
        return GitScene(self._root, self._url)


def git(directory: Path, *arguments: str) -> str:
    """What git says to somebody else."""
    done = subprocess.run(
        ["git", *arguments],
        cwd=directory,
        env=git_environment(),
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout


async def memory(story: Story, root: Path) -> None:
    """No git at all."""
    await story(MemoryScene(MemoryRemote()))


async def over_files(story: Story, root: Path) -> None:
    """Git, with a remote that is a directory."""
    await prepare(root / "bare.git")
    await story(GitScene(root, f"file://{root / 'bare.git'}"))


async def over_http(story: Story, root: Path) -> None:
    """Git, with a remote that the lab serves."""
    backend = GitServer({URL: str(root / "bare.git")}, lambda: 0.0)
    port = await backend.start("127.0.0.1", 0)
    try:
        url = f"http://127.0.0.1:{port}{place_of(URL)}"
        await asyncio.to_thread(lambda: asyncio.run(_told(story, root, url)))
    finally:
        await backend.stop()


async def _told(story: Story, root: Path, url: str) -> None:
    await story(GitScene(root, url))


BACKENDS: dict[str, Callable[[Story, Path], Coroutine[None, None, None]]] = {
    "memory": memory,
    "files": over_files,
    "http": over_http,
}
