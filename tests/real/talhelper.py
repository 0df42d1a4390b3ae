"""talhelper as a judge: what it makes of a directory."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from stockman.talos.secrets.bundle import bundle_text
from stockman.talos.talconfig import Talconfig
from tests.talos.machine.clusters import bundle

_MADE = re.compile(r"^generated config for (\S+) in (\S+)$", re.MULTILINE)


def written(made: Talconfig, place: Path) -> None:
    """The files as they would stand in a repository, were they not encrypted there."""
    (place / "talconfig.yaml").write_text(made.text)
    give_secrets(place)
    secret = {name: text.reveal() for name, text in made.secret_patches.items()}
    for name, text in (made.patches | secret).items():
        (place / name).parent.mkdir(exist_ok=True)
        (place / name).write_text(text)


def give_secrets(place: Path) -> None:
    (place / "talsecret.yaml").write_text(bundle_text(bundle()).reveal())


def genconfig(talhelper: Path, place: Path) -> dict[str, str]:
    """Machine configurations by node, as talhelper makes them."""
    done = _run(talhelper, place)
    assert done.returncode == 0, done.stdout + done.stderr
    return {name: (place / file).read_text() for name, file in _MADE.findall(done.stdout)}


def made_by_talhelper(talhelper: Path, place: Path) -> dict[str, str] | None:
    """The same; None where it refuses the directory."""
    return genconfig(talhelper, place) if _run(talhelper, place).returncode == 0 else None


def _run(talhelper: Path, place: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [talhelper, "genconfig", "--no-gitignore", "--offline-mode"],
        cwd=place,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
