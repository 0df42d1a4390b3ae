"""Run the two commands of the README on fresh Debian systems: `make fresh`, as root.

Each system is a directory that `mmdebstrap` fills with what the README requires. An unprivileged
user runs a clone of the tree in it: `make demo` there, and `make test` in the systems that
FRESH_TESTS names (`trixie` when unset, `all`, or none). The mounts belong to a mount namespace of
each command, so the kernel removes them however the command ends.
"""

import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple, NoReturn

from tools.cache import default_root
from tools.errors import ToolError
from tools.provide import Provider

ROOT = Path(__file__).resolve().parent.parent
SYSTEMS = {"bookworm": "Debian 12", "trixie": "Debian 13", "testing": "Debian testing"}
TESTS = "trixie"
HARSH = "bookworm"
"""The system in which the demo also runs without HOME and the like."""
PACKAGES = "make,git,python3,python3-venv,ca-certificates"
MAX_AGE = 7 * 24 * 3600.0
"""Seconds until a system is built again."""

USER, UID = "tester", 1000
HOME = f"/home/{USER}"
CLONE = f"{HOME}/a clone"
CA_BUNDLE = Path("/etc/ssl/certs/ca-certificates.crt")
SYSTEM_FILES = (CA_BUNDLE, Path("/etc/resolv.conf"), Path("/etc/pip.conf"))
PROXIES = ("http_proxy", "https_proxy", "no_proxy")
CERTIFICATES = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")

MOUNTS = """
set -eu
mount -t proc proc "$1/proc"
mount --bind /dev "$1/dev"
mount -t devpts -o newinstance,ptmxmode=0666,mode=0620 devpts "$1/dev/pts"
mount -t tmpfs -o mode=1777 tmpfs "$1/dev/shm"
mount --bind "$2" "$1$3/.cache/pip"
root=$1 user=$4
shift 4
# No exec: a process that changes its user would not be killed together with `unshare`.
status=0
chroot --userspec="$user:$user" "$root" "$@" || status=$?
exit $status
"""


class Run(NamedTuple):
    """One command in one system."""

    system: str
    command: str
    harsh: bool = False
    """Without HOME and a terminal, in the C locale, with files closed to others."""

    @property
    def name(self) -> str:
        conditions = " with LANG=C, TERM=dumb, umask 077 and no HOME" if self.harsh else ""
        return f"{SYSTEMS[self.system]}: {self.command}{conditions}"


def plan_runs(tests: str) -> list[Run]:
    """All commands, in their order; `tests` is the value of FRESH_TESTS."""
    tested = set(SYSTEMS) if tests == "all" else set(tests.replace(",", " ").split())
    if unknown := tested - set(SYSTEMS):
        stop(f"FRESH_TESTS names {', '.join(sorted(unknown))}: use {', '.join(SYSTEMS)}, or all")
    runs = []
    for system in SYSTEMS:
        if system == HARSH:
            runs.append(Run(system, "make demo PRESET=single", harsh=True))
        runs.append(Run(system, "make demo"))
        if system in tested:
            runs.append(Run(system, "make test"))
    return runs


def inherit_variables(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables of this machine that downloads depend on."""
    return {
        name: value
        for name, value in environment.items()
        if name.lower() in PROXIES or name in CERTIFICATES or name.startswith("PIP_")
    }


def script_of(run: Run, variables: Mapping[str, str]) -> list[str]:
    """The command of a run as the user starts it in the system."""
    own = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8", "HOME": HOME, "USER": USER}
    if run.harsh:
        own = {"PATH": own["PATH"], "LANG": "C", "TERM": "dumb"}
    assignments = [f"{name}={value}" for name, value in {**variables, **own}.items()]
    umask = "077" if run.harsh else "022"
    script = f"umask {umask} && cd {shlex.quote(CLONE)} && exec {run.command}"
    return ["/usr/bin/env", "-i", *assignments, "/bin/sh", "-c", script]


def build_system(system: str, cache: Path, mmdebstrap: Path) -> Path:
    """The archive of a system, built now unless a recent one is there."""
    archive = cache / f"{system}.tar"
    if archive.exists() and time.time() - archive.stat().st_mtime < MAX_AGE:
        return archive
    say(f"building {SYSTEMS[system]}")
    command = [str(mmdebstrap), "--quiet", "--variant=minbase", f"--include={PACKAGES}"]
    if system == "testing":
        # Mirrors of it may be a few days old, and its release file expires after seven.
        command.append('--aptopt=Acquire::Check-Valid-Until "false"')
    add_user = f'chroot "$1" useradd --create-home --uid={UID} {USER}'
    command += [f"--customize-hook={add_user}", system]
    unfinished = archive.with_suffix(".new.tar")
    # Without a mirror, mmdebstrap uses that of Debian.
    subprocess.run([*command, str(unfinished)], check=True, stdin=subprocess.DEVNULL)
    return unfinished.replace(archive)


def unpack(archive: Path, root: Path, variables: Mapping[str, str]) -> None:
    """Make a fresh system with a clone and with the settings of this machine."""
    root.mkdir()
    subprocess.run(["tar", "-xf", archive, "-C", root, "--numeric-owner"], check=True)
    for path in (*SYSTEM_FILES, *map(Path, variables.values())):
        if path.is_absolute() and path.exists():
            _copy(path, root / path.relative_to("/"))
    home = Path.home()
    for path in (home / ".pip" / "pip.conf", home / ".config" / "pip" / "pip.conf"):
        if path.exists():
            _copy(path, root / HOME[1:] / ".config" / "pip" / "pip.conf")
    (root / HOME[1:] / ".cache" / "pip").mkdir(parents=True)
    clone = root / CLONE[1:]
    subprocess.run(["git", "clone", "--quiet", "--no-hardlinks", ROOT, clone], check=True)
    subprocess.run(["chown", "-R", f"{UID}:{UID}", root / HOME[1:]], check=True)


def _copy(path: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    target.unlink(missing_ok=True)  # resolv.conf may be a link that leads nowhere
    if path.is_dir():
        shutil.copytree(path, target, dirs_exist_ok=True)
    else:
        shutil.copy(path, target)


def execute(run: Run, root: Path, downloads: Path, variables: Mapping[str, str]) -> bool:
    """Run one command in a system; whether it succeeded."""
    namespaces = ["unshare", "--mount", "--pid", "--fork", "--kill-child"]
    mounts = ["sh", "-c", MOUNTS, "mounts", str(root), str(downloads), HOME, USER]
    command = [*namespaces, *mounts, *script_of(run, variables)]
    return subprocess.run(command, check=False, stdin=subprocess.DEVNULL).returncode == 0


def results(runs: list[Run], cache: Path, mmdebstrap: Path) -> Iterator[tuple[Run, bool, float]]:
    """Every run with its success and its seconds."""
    downloads = cache / "pip"
    downloads.mkdir(parents=True, exist_ok=True)
    os.chown(downloads, UID, UID)
    variables = inherit_variables(os.environ)
    with tempfile.TemporaryDirectory(
        prefix="stockman-fresh-", dir="/var/tmp", ignore_cleanup_errors=True
    ) as work:
        Path(work).chmod(0o755)
        for system in dict.fromkeys(run.system for run in runs):
            root = Path(work, system)
            unpack(build_system(system, cache, mmdebstrap), root, variables)
            for run in runs:
                if run.system != system:
                    continue
                say(run.name)
                began = time.monotonic()
                succeeded = execute(run, root, downloads, variables)
                yield run, succeeded, time.monotonic() - began
            shutil.rmtree(root)


def say(message: str) -> None:
    print(f"fresh: {message}", flush=True)


def stop(message: str) -> NoReturn:
    print(f"fresh: {message}", file=sys.stderr, flush=True)
    raise SystemExit(1)


def main() -> int:
    if os.geteuid() != 0:
        stop("only root can build and enter these systems: run `sudo make fresh`")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    runs = plan_runs(os.environ.get("FRESH_TESTS", TESTS))
    try:
        mmdebstrap = Provider().path("mmdebstrap", install=True)
    except ToolError as error:
        stop(str(error))
    lines, failed = [], False
    try:
        for run, succeeded, seconds in results(runs, default_root() / "fresh", mmdebstrap):
            failed |= not succeeded
            lines.append(f"{run.name}: {'passed' if succeeded else 'failed'} in {seconds:.0f} s")
    except subprocess.CalledProcessError as error:
        stop(f"{Path(error.cmd[0]).name} ended with {error.returncode}; its output is above")
    finally:
        for line in lines:
            say(line)
    return 1 if failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
