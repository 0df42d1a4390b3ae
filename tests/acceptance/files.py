"""Directories with the files of a preset, made once and copied for every test."""

from __future__ import annotations

import atexit
import os
import shutil
import stat
import subprocess
import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from ipaddress import IPv4Network
from pathlib import Path

from stockman.adapters.git.probe import LocalGitProbe
from stockman.app.init.directory import InitContext, InitOptions, init_directory
from stockman.app.rendering.render import RenderContext as RenderDoors
from stockman.app.rendering.render import prepare_rendering, write_rendering
from stockman.config.presets import Answers
from stockman.rendering.managed_files import FileDecisions
from tests.engine.simulated import Dice

NETWORK = IPv4Network("127.68.0.0/16")
NOW = 1_767_225_600.0
"""The moment at which worlds begin."""
URL = "https://github.com/example/k8s.git"


class Moment:
    """A clock that stands still."""

    def __init__(self, at: float = NOW) -> None:
        self._at = at

    def now(self) -> datetime:
        return datetime.fromtimestamp(self._at, UTC)

    async def sleep(self, seconds: float) -> None:
        raise RuntimeError(f"{seconds} seconds that never pass")


@dataclass(frozen=True)
class Files:
    """A directory, and the repository that it is pushed to."""

    root: Path

    @property
    def directory(self) -> Path:
        return self.root / "c"

    @property
    def bare(self) -> Path:
        return self.root / "repo.git"

    def copy(self, root: Path) -> Files:
        """The same somewhere else."""
        root.mkdir(parents=True, exist_ok=True)
        _copy_below(str(self.root), str(root))
        return Files(root)

    def edit(self, name: str, old: str, new: str) -> None:
        """Change a file as a user does."""
        text = (self.directory / name).read_text()
        assert old in text, (name, old)
        (self.directory / name).write_text(text.replace(old, new, 1))

    def append(self, name: str, text: str) -> None:
        """Add to the end of a file."""
        with (self.directory / name).open("a") as file:
            file.write(text)


def _copy_below(source: str, target: str) -> None:
    """Copy what a directory holds, with rights and without moments."""
    with os.scandir(source) as scandir:
        for entry in scandir:
            copy = f"{target}/{entry.name}"
            if entry.is_symlink():
                os.symlink(os.readlink(entry.path), copy)
            elif entry.is_dir():
                os.mkdir(copy)
                _copy_below(entry.path, copy)
            else:
                _copy_file(entry.path, copy)


def _copy_file(source: str, target: str) -> None:
    with open(source, "rb", buffering=0) as old:
        rights = stat.S_IMODE(os.fstat(old.fileno()).st_mode)
        content = old.read()
    descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, rights)
    with open(descriptor, "wb", buffering=0) as new:
        new.write(content)


@cache
def place() -> Path:
    """A directory of this process alone, gone when it ends."""
    path = Path(tempfile.mkdtemp(prefix="stockman-acceptance-"))
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    return path


def prepare(talos_version: str, preset: str = "three-node") -> Files:
    """Files of `init`, rendered, committed and pushed."""
    return _prepare(talos_version, preset)


@cache
def _prepare(talos_version: str, preset: str) -> Files:
    root = place() / f"{preset}-{talos_version}"
    directory, bare = root / "c", root / "repo.git"
    directory.mkdir(parents=True)
    git(root, "init", "--quiet", "--template=", "--bare", "--initial-branch=main", "repo.git")
    git(directory, "init", "--quiet", "--template=", "--initial-branch=main")
    git(directory, "config", "user.name", "Shepherd")
    git(directory, "config", "user.email", "shepherd@example.org")
    git(directory, "remote", "add", "origin", "../repo.git")
    dice = Dice(f"{preset} {talos_version}")
    init_options = InitOptions(
        directory=directory,
        preset=preset,
        network=NETWORK,
        answers=Answers(talos_version=talos_version),
    )
    started = init_directory(
        init_options, InitContext(clock=Moment(), entropy=dice, repo=LocalGitProbe(directory))
    )
    assert started.complete, list(started.problems)
    rendered(directory)
    git(directory, "add", "--all")
    git(directory, "commit", "--quiet", "--message", "Render")
    git(directory, "push", "--quiet", "--set-upstream", "origin", "main")
    git(directory, "gc", "--quiet")  # a few files instead of one for every object
    assert bare.is_dir()
    return Files(root)


def rendered(directory: Path) -> None:
    """Write what the files of a directory render to."""
    environment = RenderDoors(environment={}, clock=Moment(), entropy=Dice("render"))
    done = prepare_rendering(directory, FileDecisions(), environment)
    assert not done.problems.errors, list(done.problems.errors)
    write_rendering(directory, done, environment)


def git(directory: Path, *arguments: str) -> None:
    """Run the real git."""
    subprocess.run(["git", *arguments], cwd=directory, check=True, capture_output=True)
