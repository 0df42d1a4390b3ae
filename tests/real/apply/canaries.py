"""Secrets of a cluster, and where they are written down."""

from __future__ import annotations

import base64
import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

from tests.real.apply.herd import Made
from tests.real.apply.proxmox import PASSWORD
from tests.real.apply.scene import Scene

_PUBLIC = ("crt", "id")
"""Last words of paths to what is no secret: certificates, and the name of a cluster."""
_FILES = ("age.key", "github-deploy.key", "github-push-token.txt")
_LINE = 40
"""Shortest line of a key that is looked for by itself."""


def canaries(made: Made) -> dict[str, str]:
    """Secrets by name."""
    scene = made.scene
    found = {
        "password of the administrator": PASSWORD,
        "token of the lab": scene.administrator.partition("=")[2],
        **{name: _last_line(scene.directory / name) for name in _FILES},
        **_leaves(scene, "talos/talsecret.sops.yaml"),
        **_leaves(scene, "talos/proxmox-tokens.sops.yaml"),
    }
    for file in (made.talosconfig, made.kubeconfig):
        key = re.search(r"(?m)^\s*(?:client-key-data|key): (\S+)$", file.read_text())
        assert key is not None, file
        found[f"key in {file.name}"] = key[1]
    return found


def written(found: dict[str, str], places: dict[str, str]) -> list[str]:
    """Which secret stands where, in any of the ways in which it may be spelled."""
    return [
        f"{name} in {place}"
        for name, value in found.items()
        for place, text in places.items()
        if any(spelled in text for spelled in _spellings(value))
    ]


def places(made: Made) -> dict[str, str]:
    """Texts that no secret may stand in."""
    scene = made.scene
    files = [
        *scene.directory.glob(".stockman/runs/**/*"),
        scene.folder / "kept-plan.json",
        scene.folder / "planned.txt",
        scene.folder / "applied.txt",
        scene.folder / "lab.state.log",
    ]
    return {
        **{
            str(file.relative_to(scene.folder)): file.read_text()
            for file in files
            if file.is_file()
        },
        "command lines": "\n".join(sorted(made.words)),
        "requests": "\n".join(scene.requests()),
        "metrics": scene.done("runs", "metrics").out,
        "shown run": scene.done("-vv", "runs", "show", "-o", "json").out,
        "commits": _commits(scene.remote),
    }


def _leaves(here: Scene, file: str) -> dict[str, str]:
    data = json.loads(here.done("secrets", "get", file, "-o", "json").out)["data"]
    return {
        f"{file} {'.'.join(path)}": value
        for path, value in _walked(data)
        if path[-1] not in _PUBLIC
    }


def _walked(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    if isinstance(value, dict):
        for name, one in value.items():
            yield from _walked(one, (*path, name))
    else:
        yield path, str(value)


def _spellings(value: str) -> set[str]:
    spellings = {value, quote(value, safe=""), base64.b64encode(value.encode()).decode()}
    if value.startswith("LS0t"):  # a key in PEM, encoded once more
        lines = base64.b64decode(value).decode().splitlines()
        spellings |= {line for line in lines if len(line) >= _LINE}
    return spellings


def _last_line(file: Path) -> str:
    """A secret of a file: the longest line, for keys have others around it."""
    return max(file.read_text().splitlines(), key=len)


def _commits(repository: Path) -> str:
    return subprocess.run(
        ["git", "log", "--all", "--patch", "--text"],
        cwd=repository,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
