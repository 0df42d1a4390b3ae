"""A run that is killed, and gone on with from another directory: all they share is storage."""

from __future__ import annotations

import shutil
import subprocess
import time
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from stockman.engine.object_lock import LockTimeouts
from tests.cli.running import Ran
from tests.real.apply.herd import APPLY, Made
from tests.real.apply.scene import CLOCK, PATIENCE, Kind, Scene, scene
from tests.real.versitygw import ACCESS_KEY, SECRET_KEY, versitygw_served

RESUME = ("runs", "resume")
_BUCKET = "flock"
_MOMENT = 0.02
_MOST_LIVES = 200
_OVER = "has already ended"
_PRIVATE = ("age.key", "github-deploy.key", "github-push-token.txt")
"""What an operator has that stands in no repository."""


@dataclass(frozen=True)
class KilledOften:
    """Makes a cluster with one run that is killed at each of some steps, and gone on with."""

    moments: tuple[str, ...]
    """What it tells last, at the earliest."""

    def __call__(self, kind: Kind, folder: Path, stack: ExitStack) -> Made:
        lab_scene = stack.enter_context(scene(kind, folder))
        resume: tuple[str, ...] = APPLY
        for moment in self.moments:
            _kill(lab_scene, resume, moment)
            resume = RESUME
        return Made(scene=lab_scene, ran=lab_scene.stockman(*RESUME))


@dataclass(frozen=True)
class ResumedElsewhere:
    """Makes a cluster by two operators: the first is killed, the second goes on in a clone."""

    server: Path
    """The program that is the storage."""
    at: str
    """What the first tells last, at the earliest."""

    def __call__(self, kind: Kind, folder: Path, stack: ExitStack) -> Made:
        url = stack.enter_context(versitygw_served(self.server, folder / "storage"))
        (kept(folder) / _BUCKET).mkdir()
        lab_scene = stack.enter_context(scene(kind, folder, _lock_home(url)))
        lab_scene.environment |= {
            "AWS_ACCESS_KEY_ID": ACCESS_KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET_KEY,
        }
        _kill(lab_scene, APPLY, self.at)
        lab_scene.directory = _cloned(lab_scene)
        too_early = lab_scene.stockman(*RESUME)
        assert too_early.status == 1, too_early
        assert "error[lock.held]" in too_early.err, too_early
        _wait_for_the_lock()
        return Made(scene=lab_scene, ran=lab_scene.stockman(*RESUME))


@dataclass(frozen=True)
class KilledAllTheTime:
    """Makes a cluster with one run whose processes live for some lines each."""

    lines: int
    """How many a process tells before it is killed."""

    def __call__(self, kind: Kind, folder: Path, stack: ExitStack) -> Made:
        lab_scene = stack.enter_context(scene(kind, folder))
        _kill(lab_scene, APPLY, "run: accepted")
        for _ in range(_MOST_LIVES):
            told = folder / "lived.txt"
            with lab_scene.begun(*RESUME, told=told) as process:
                while process.poll() is None and told.read_text().count("\n") < self.lines:
                    time.sleep(_MOMENT)  # noqa: TID251  # a real process is killed in real time
                process.kill()
            # The last one may be killed when everything is done, and before it can say so.
            if process.returncode == 0 or _OVER in told.read_text():
                return Made(scene=lab_scene, ran=Ran(0, "", told.read_text()))
        return Made(scene=lab_scene, ran=Ran(process.returncode, "", told.read_text()))


def kept(folder: Path) -> Path:
    """What the storage holds, as files."""
    return folder / "storage" / "data"


def _lock_home(url: str) -> str:
    """Lines of cluster.yaml that put journal and lock into a bucket."""
    return f"\nlock:\n  home: s3://{_BUCKET}/shared\n  endpoint: {url}\n  region: us-east-1\n"


def _kill(here: Scene, words: tuple[str, ...], at: str) -> None:
    """Begin something, and kill it with signal 9 as soon as it tells of a step."""
    told = here.folder / "killed.txt"
    end = CLOCK.now() + timedelta(seconds=PATIENCE)
    with here.begun(*words, told=told) as process:
        while at not in told.read_text():
            assert process.poll() is None, told.read_text()
            assert CLOCK.now() < end, told.read_text()
            time.sleep(_MOMENT)  # noqa: TID251  # a real process is killed in real time
        process.kill()
    assert process.returncode == -9


def _cloned(here: Scene) -> Path:
    """What another operator has: a clone, and the keys."""
    path = here.folder / "clone"
    who = ("-c", "user.name=other", "-c", "user.email=other@example.org")
    subprocess.run(["git", "clone", "-q", *who, here.remote, path], check=True)
    for file in _PRIVATE:
        shutil.copy2(here.directory / file, path)
    return path


def _wait_for_the_lock() -> None:
    """Let the time pass after which a lock without a sign of life is anybody's."""
    times = LockTimeouts()
    time.sleep(times.seconds + times.spare + 1)  # noqa: TID251  # it runs out in real time
