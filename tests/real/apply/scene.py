"""A lab in a process of its own, and a directory that describes a cluster for it."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stockman.adapters.system import SystemClock
from tests.cli.running import REAL, Ran, clean

CLOCK = SystemClock()
PATIENCE = 300
"""Seconds after which a command counts as hung."""
ADMINISTRATOR = ("PROXMOX_VE_API_TOKEN", "PROXMOX_VE_USERNAME", "PROXMOX_VE_PASSWORD")
"""Variables that say who grants access."""
_READS = re.compile(
    r"(GET|HEAD) |/cosi\.resource\.State/(Get|List|Watch)$|/time\.TimeService/Time$"
    r"|/machine\.MachineService/(Version|ServiceList|EtcdStatus|EtcdMemberList|Read|Hostname)$"
)


@dataclass(frozen=True, kw_only=True)
class Kind:
    """Which cluster."""

    preset: str
    talos: str
    """Empty: as the preset has it, or none."""
    pve: str
    network: str


@dataclass(kw_only=True)
class Scene:
    """A running lab, and what stockman is told of it."""

    kind: Kind
    folder: Path
    """For everything."""
    directory: Path
    """That describes the cluster."""
    environment: dict[str, str]
    """What a shell would have that took over the variables of the lab."""
    administrator: str = ""
    """Token of the lab's own, with its secret."""

    @property
    def remote(self) -> Path:
        """The repository that Flux follows."""
        return self.folder / "remote.git"

    def stockman(self, *words: str) -> Ran:
        """Run the program in the directory."""
        done = subprocess.run(
            [*REAL, *words],
            cwd=self.directory,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        return Ran(done.returncode, done.stdout, done.stderr)

    def begun(self, *words: str, told: Path) -> subprocess.Popen[bytes]:
        """The program while it runs; everything that it tells goes into a file."""
        with told.open("wb") as output:
            return subprocess.Popen(
                [*REAL, *words],
                cwd=self.directory,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )

    def done(self, *words: str) -> Ran:
        """The same, where it ends well."""
        stockman = self.stockman(*words)
        assert stockman.status == 0, f"{words}: {stockman.status}\n{stockman.out}\n{stockman.err}"
        return stockman

    def without_administrator(self) -> None:
        """From now on only the token of stockman's own is there."""
        for name in ADMINISTRATOR:
            self.environment.pop(name, None)

    def requests(self) -> list[str]:
        """What the lab was asked so far."""
        lab: list[str] = self.lab("log", "--lines", "10000")
        return lab

    def lab(self, *words: str) -> Any:
        """What a command of the lab tells."""
        return json.loads(self.done("lab", *words, "-o", "json", *self._state).out)["data"]

    @property
    def _state(self) -> tuple[str, str]:
        return ("--state", str(self.folder / "lab.state"))


def writes(requests: list[str]) -> list[str]:
    """Requests that may have changed something."""
    return [request for request in requests if not _READS.search(request)]


@contextmanager
def scene(kind: Kind, folder: Path, more: str = "") -> Iterator[Scene]:
    """A lab without guests, and files that were rendered and pushed; `more` ends cluster.yaml."""
    _git(folder, "init", "-q", "--bare", "-b", "main", "remote.git")
    around = clean(HOME=str(folder))
    made = Scene(kind=kind, folder=folder, directory=folder / "files", environment=around)
    network = ("--preset", kind.preset, "--network", kind.network)
    wish = ("--talos-version", kind.talos) if kind.talos else ()
    made.directory.mkdir()
    made.done("init", *network, *wish, "--yes")
    state = ("--state", str(folder / "lab.state"))
    pve = ("--pve", kind.pve, *_repository(made), "--detach")
    made.done("lab", "up", *network, *pve, *state)
    try:
        made.environment |= made.lab("env")
        del made.environment["PROXMOX_VE_INSECURE"]
        made.administrator = made.environment["PROXMOX_VE_API_TOKEN"]
        _fit(made, more)
        if has_cluster(made):
            made.done("render")
        _push(made)
        yield made
    finally:
        made.done("lab", "down", *state)


def has_cluster(made: Scene) -> bool:
    """Whether there are nodes at all: some files are about other guests only."""
    return "talos_version:" in (made.directory / "cluster.yaml").read_text()


def _fit(made: Scene, more: str) -> None:
    """Name the doors of the lab in the files."""
    environment = made.environment
    authority = Path(environment["STOCKMAN_LAB_CA"]).read_text()
    (made.directory / "pve-ca.pem").write_text(authority)
    file = made.directory / "cluster.yaml"
    text = file.read_text()
    factory, endpoint = (
        environment["STOCKMAN_LAB_FACTORY"],
        environment["PROXMOX_VE_ENDPOINT"].rstrip("/"),
    )
    text = text.replace('  version: "8.4"\n', f'  version: "{made.kind.pve}"\n')
    text = _begun(text, "proxmox", "  tls: {ca_file: pve-ca.pem}\n")
    if has_cluster(made):
        text = _begun(text, "talos", f"  factory_url: {factory}\n")
    text, count = re.subn(r"(?m)^proxmox_endpoint: .*", f"proxmox_endpoint: {endpoint}", text)
    assert count == 1, text
    file.write_text(f"{text}{more}")


def _begun(text: str, key: str, line: str) -> str:
    """A file where a line was put first below a key, which may be a new one."""
    found, count = re.subn(rf"(?m)^{key}:\n", f"{key}:\n{line}", text)
    return found if count else f"{text}\n{key}:\n{line}"


def _repository(made: Scene) -> tuple[str, ...]:
    """Where the lab finds the repository that the files name."""
    text = (made.directory / "cluster.yaml").read_text()
    found = re.search(r"(?m)^repository_name: (\S+)$", text)
    return () if found is None else ("--repo", f"https://github.com/{found[1]}.git={made.remote}")


def _push(made: Scene) -> None:
    who = ("-c", "user.name=tester", "-c", "user.email=tester@example.org")
    _git(made.directory, "init", "-q", "-b", "main")
    _git(made.directory, "config", "user.name", "tester")
    _git(made.directory, "config", "user.email", "tester@example.org")
    _git(made.directory, "remote", "add", "origin", str(made.remote))
    _git(made.directory, "add", "-A")
    _git(made.directory, *who, "commit", "-q", "-m", "everything")
    _git(made.directory, "push", "-q", "-u", "origin", "main")


def _git(directory: Path, *words: str) -> None:
    subprocess.run(["git", *words], cwd=directory, check=True, env=_without_settings())


def _without_settings() -> dict[str, str]:
    return {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
