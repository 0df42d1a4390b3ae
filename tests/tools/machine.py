"""A machine of its own for `python -m tools`, with stand-ins for the programs it starts."""

import json
import select
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tools.recipe import GoModule, GoProgram
from tools.recipes import PROGRAMS

TIMEOUT_SECONDS = 300
ROOT = Path(__file__).parents[2]
MGMT = "cmd/talosctl/cmd/mgmt"
NETWORK = "internal/app/machined/pkg/controllers/network"
SOME_FILES = {
    "go.mod": "module fake\n",
    "LICENSE": "free\n",
    # Files that recipes edit.
    f"{NETWORK}/route_spec.go": "package network\n",
    f"{NETWORK}/route_status.go": "package network\n",
    f"{MGMT}/bgp_launch_linux.go": "//go:build linux\n\npackage mgmt\n",
    f"{MGMT}/bgp_launch_other.go": "// Free.\n\n//go:build !linux\n\npackage mgmt\n",
}


@dataclass(frozen=True)
class Call:
    """One call of the Go command."""

    arguments: list[str]
    environment: dict[str, str | None]


@dataclass(frozen=True)
class Machine:
    """A machine with its own PATH, home, module registry and cache."""

    root: Path

    @property
    def bin(self) -> Path:
        return self.root / "bin"

    @property
    def cache(self) -> Path:
        return self.root / "cache"

    @property
    def environment(self) -> dict[str, str]:
        return {
            "PATH": str(self.bin),
            "HOME": str(self.root / "home"),
            "STOCKMAN_TOOLS": str(self.cache),
            "FAKE_GO_CALLS": str(self.root / "calls"),
            "FAKE_GO_MODULES": str(self.root / "modules"),
        }

    def run(self, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "tools", *arguments],
            cwd=ROOT,
            env=self.environment | more,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_SECONDS,
            check=False,
        )

    @contextmanager
    def start(self, *arguments: str, **more: str) -> Iterator[subprocess.Popen[str]]:
        """A run in the background that does not outlive the block."""
        with subprocess.Popen(
            [sys.executable, "-m", "tools", *arguments],
            cwd=ROOT,
            env=self.environment | more,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            try:
                yield process
            finally:
                process.kill()

    def install(self, name: str, python: str) -> Path:
        """Put a program written in Python on the machine's PATH."""
        program = self.bin / name
        program.write_text(f"#!{sys.executable} -IS\n{python}")
        program.chmod(0o755)
        return program

    def serve(self, module: str, files: Mapping[str, str]) -> None:
        """Have the registry answer for `module@version`, read-only as the module cache is."""
        directory = self.root / "modules" / module.replace("/", "+")
        for name, text in files.items():
            path = directory / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.unlink(missing_ok=True)
            path.write_text(text)
            path.chmod(0o444)

    def serve_all(self) -> None:
        """Have the registry answer for every module of the table."""
        for program in PROGRAMS:
            recipe = program.recipe
            if isinstance(recipe, GoProgram) and isinstance(recipe.source, GoModule):
                self.serve(f"{recipe.source.path}@{recipe.source.version}", SOME_FILES)

    def calls(self, *beginning: str) -> list[Call]:
        """How Go was called, in order; only calls that begin so."""
        path = self.root / "calls"
        lines = path.read_text().splitlines() if path.exists() else []
        called = [Call(**json.loads(line)) for line in lines]
        return [call for call in called if call.arguments[: len(beginning)] == [*beginning]]


@dataclass(frozen=True)
class Gate:
    """Holds a build of the stand-in open until it is let through."""

    root: Path

    def await_start(self) -> int:
        """The process id of the Go command that now stands at the gate."""
        # Opened for both directions, so that opening does not wait for the other end.
        with (self.root / "started").open("r+b", buffering=0) as started:
            readable, _, _ = select.select([started], [], [], TIMEOUT_SECONDS)
            assert readable, "no build came to the gate"
            return int(started.readline())

    def let_through(self) -> None:
        (self.root / "release").write_text("go")
