"""Renovate as a judge: what it finds in a rendered tree."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from stockman.model.secret import Secret
from stockman.rendering.bootstrap import all_charts
from stockman.rendering.repository import RenderedRepository

Pin = tuple[str, str]
"""A package, and the version of it that is written down."""


def written(found: RenderedRepository, place: Path) -> None:
    """The tree as a repository of git; secrets are replaced."""
    for file in found.tree:
        path = place / file.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("sops: {}\n" if isinstance(file.text, Secret) else file.text)


def committed(place: Path) -> None:
    identity = ("-c", "user.name=test", "-c", "user.email=test@example.com")
    for arguments in (("init", "-q"), ("add", "-A"), (*identity, "commit", "-qm", "all")):
        subprocess.run(["git", *arguments], cwd=place, check=True, timeout=60)


def extracted(renovate: Path, place: Path) -> dict[str, set[Pin]]:
    """What Renovate finds, by file; it looks nothing up."""
    done = subprocess.run(
        [renovate, "--platform=local", "--dry-run=extract"],
        cwd=place,
        env={**os.environ, "LOG_LEVEL": "debug", "LOG_FORMAT": "json"},
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )
    for line in done.stdout.splitlines():
        entry = json.loads(line) if line.startswith("{") else {}
        if "packageFiles" in entry:
            return _by_file(entry["packageFiles"])
    raise AssertionError(done.stdout[-2000:] + done.stderr)


def _by_file(managers: dict[str, list[dict[str, Any]]]) -> dict[str, set[Pin]]:
    by_file: dict[str, set[Pin]] = {}
    for files in managers.values():
        for file in files:
            pins = by_file.setdefault(file["packageFile"], set())
            for dep in file["deps"]:
                if dep.get("currentValue") and dep.get("datasource") != "kubernetes-api":
                    pins.add((dep.get("packageName") or dep["depName"], dep["currentValue"]))
    return by_file


def pinned(found: RenderedRepository) -> dict[str, set[Pin]]:
    """Every version that the catalog puts into the tree, by file."""
    expected: dict[str, set[Pin]] = {}

    def expect(path: str, name: str, version: str) -> None:
        expected.setdefault(path, set()).add((name, version))

    for chart in all_charts(found.apps):
        base = f"kubernetes/apps/{chart.namespace}/{chart.release}/{chart.folder}"
        if chart.is_oci:
            name = chart.source.removeprefix("oci://")
            expect(f"{base}/ocirepository.yaml", name, chart.version)
        else:
            expect(f"{base}/helmrelease.yaml", chart.name, chart.version)
    for file in found.tree:
        if isinstance(file.text, Secret) or not file.path.startswith("kubernetes/"):
            continue
        if not file.path.endswith((".yaml", ".yml")):
            continue
        for one in yaml.safe_load_all(file.text):
            for name, version in _images(one):
                expect(file.path, name, version)
            if one["kind"] == "GitRepository":
                name = one["spec"]["url"].removeprefix("https://github.com/").removesuffix(".git")
                expect(file.path, name, one["spec"]["ref"]["tag"])
    return expected


def _images(value: Any) -> Iterator[Pin]:
    if isinstance(value, list):
        for item in value:
            yield from _images(item)
    if not isinstance(value, dict):
        return
    image = value.get("image")
    if isinstance(image, str) and ":" in image:
        name, _, tag = image.rpartition(":")
        yield name, tag
    if {"repository", "tag"} <= value.keys():
        parts = (value.get("registry"), value["repository"])
        yield "/".join(part for part in parts if part), str(value["tag"])
    if {"name", "newTag"} <= value.keys():
        yield value["name"], value["newTag"]
    for item in value.values():
        yield from _images(item)
