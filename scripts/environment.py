"""Print the path of the project's virtual environment; create or update it first if needed.

    python environment.py run|dev|judges|lock

Each Python version has its own environment below `.venv`. A stamp in it records its inputs; while
they are unchanged, nothing is done. Changed requirements are installed into a new environment, so
nothing that was dropped lingers. Two calls at the same time wait for each other.
"""

import contextlib
import fcntl
import hashlib
import json
import os
import platform
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, NoReturn

ROOT = Path(__file__).resolve().parent.parent
PROJECTS = (ROOT, ROOT / "lab")
"""The product, and the lab."""
REQUIREMENTS = ROOT / "requirements"


class Level(NamedTuple):
    """What an environment has to hold for one kind of work."""

    directory: str
    installs: tuple[str, ...]
    """Requirement files, without the suffix."""
    included_in: str | None = None
    """A requirement file that holds all of `installs` and more."""
    project: bool = True
    """Whether stockman itself is installed too, from the working tree."""

    @property
    def path(self) -> Path:
        version = "{}.{}".format(*sys.version_info[:2])
        return ROOT / ".venv" / self.directory.format(version=version)


LEVELS = {
    "run": Level("{version}", ("run", "build"), included_in="dev"),
    "dev": Level("{version}", ("dev",)),
    "judges": Level("{version}", ("dev", "judges")),
    "lock": Level("lock-{version}", ("lock",), project=False),
}


class Stamp(NamedTuple):
    """What an environment was made from; kept inside it."""

    interpreter: str = ""
    project: str = ""
    requirements: tuple[tuple[str, str], ...] = ()
    """Name and digest of each requirement file that was installed."""

    @classmethod
    def read(cls, environment: Path) -> "Stamp":
        """The stamp, or an empty one where there is no whole environment."""
        try:
            stamp = json.loads((environment / "stockman-stamp.json").read_text("utf-8"))
            (environment / "bin" / "python").stat()
        except (OSError, ValueError):
            return cls()
        pairs = tuple((name, digest) for name, digest in stamp.pop("requirements"))
        return cls(**stamp, requirements=pairs)

    def write(self, environment: Path) -> None:
        target = environment / "stockman-stamp.json"
        fresh = target.with_suffix(".new")
        fresh.write_text(json.dumps(self._asdict(), indent=2) + "\n", "utf-8")
        fresh.replace(target)

    @property
    def current(self) -> bool:
        """Whether the interpreter and everything installed are still those of the tree."""
        return self.interpreter == _interpreter() and all(
            digest == _requirements(name) for name, digest in self.requirements
        )

    def satisfies(self, level: Level) -> bool:
        return self.current and self.holds(level) and self.project == _project(level)

    def holds(self, level: Level) -> bool:
        names = {name for name, _ in self.requirements}
        return names.issuperset(level.installs) or level.included_in in names


def _interpreter() -> str:
    return f"{sys.version} {sys.base_prefix}"


def _requirements(name: str) -> str:
    return hashlib.sha256((REQUIREMENTS / f"{name}.txt").read_bytes()).hexdigest()


def _project(level: Level) -> str:
    """A digest of what the installed metadata, console script and path to `src` depend on."""
    if not level.project:
        return ""
    inputs: list[object] = [
        str(ROOT),
        (ROOT / "src" / "stockman" / "__init__.py").read_text("utf-8"),
    ]
    for project in PROJECTS:
        settings = tomllib.loads((project / "pyproject.toml").read_text("utf-8"))
        inputs += [settings["project"], settings["build-system"]]
    return hashlib.sha256(json.dumps(inputs).encode()).hexdigest()


def prepare(level: Level) -> None:
    """Make `level` true of its environment, starting anew only where that is needed."""
    began = time.monotonic()
    stamp = Stamp.read(level.path)
    if not stamp.current:
        say(f"making {level.path.relative_to(ROOT)} with Python {platform.python_version()}")
        _create(level.path)
        stamp = Stamp(interpreter=_interpreter())
    if not stamp.holds(level):
        held = {name for name, _ in stamp.requirements}
        for name in level.installs:
            if name in held:
                continue
            say(f"installing requirements/{name}.txt")
            _pip(level, "--require-hashes", "--only-binary=:all:", f"-r{REQUIREMENTS}/{name}.txt")
            done = (*stamp.requirements, (name, _requirements(name)))
            stamp = stamp._replace(requirements=done)
            stamp.write(level.path)
    if stamp.project != _project(level):
        say("installing stockman from the working tree")
        for project in PROJECTS:
            _pip(level, "--no-index", "--no-build-isolation", "--editable", str(project))
        stamp = stamp._replace(project=_project(level))
    stamp.write(level.path)
    say(f"ready after {time.monotonic() - began:.0f} s")


def _create(path: Path) -> None:
    try:
        import ensurepip  # noqa: F401 -- Debian ships venv without it
        import venv
    except ImportError as missing:
        version = "{}.{}".format(*sys.version_info[:2])
        stop(
            f"{sys.executable} has no {missing.name} module: install it "
            f"(Debian and Ubuntu: apt install python{version}-venv), "
            f"or choose another Python with PYTHON="
        )
    try:
        venv.EnvBuilder(clear=True, symlinks=True, with_pip=True).create(path)
    except (OSError, subprocess.CalledProcessError) as error:
        stop(f"{path} could not be made: {error}")


def _pip(level: Level, *arguments: str) -> None:
    python = str(level.path / "bin" / "python")
    command = [python, "-I", "-m", "pip", "install", "--quiet", "--no-deps"]
    settings = {"PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_INPUT": "1", "PIP_USER": "0"}
    ended = subprocess.run(
        [*command, *arguments],
        check=False,
        env=os.environ | settings,
        stdin=subprocess.DEVNULL,
        stdout=sys.stderr,
    )
    if ended.returncode != 0:
        stop("pip could not install what is locked; its own words are above")


@contextlib.contextmanager
def _alone(level: Level) -> Iterator[None]:
    level.path.parent.mkdir(exist_ok=True)
    with level.path.with_name(f"{level.path.name}.lock").open("w") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("waiting for another set-up of the same environment")
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def say(message: str) -> None:
    print(f"stockman: {message}", file=sys.stderr, flush=True)


def stop(message: str) -> NoReturn:
    say(message)
    raise SystemExit(1)


def main() -> None:
    level = LEVELS[sys.argv[1]]
    if not Stamp.read(level.path).satisfies(level):
        with _alone(level):
            if not Stamp.read(level.path).satisfies(level):
                prepare(level)
    print(level.path)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        raise SystemExit(130) from None
