"""A component is one folder: the one of the how-to page is put into a copy of stockman."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from shutil import copytree, ignore_patterns

import pytest

import stockman
from tests.docs.pages import ROOT, blocks

PAGE = ROOT / "docs/how-to/add-a-component.md"
FILES = {"json": "facts.json", "python": "__init__.py"}
RENDERED = """
import sys
from stockman.model.problem import Problems
from stockman.rendering.repository import render_repository
from tests.catalog.estates import MATERIALS, wanted

estate = wanted({"components": {"podinfo": {"enabled": True, "settings": {"message": "ahoy"}}}})
problems = Problems()
found = render_repository(estate, MATERIALS, "classic", problems)
assert not problems.errors, [str(one) for one in problems.errors]
for file in found.tree:
    if file.owner == "podinfo":
        sys.stdout.write(f"{file.path}\\n{file.text}\\n")
"""


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    mktemp = tmp_path_factory.mktemp("copy")
    source = Path(stockman.__file__).parent
    copytree(source, mktemp / "stockman", ignore=ignore_patterns("__pycache__"))
    folder = mktemp / "stockman/catalog/podinfo"
    folder.mkdir()
    for language, name in FILES.items():
        (written,) = [block for block in blocks(PAGE) if block.language == language]
        (folder / name).write_text("\n".join(written.lines) + "\n")
    return mktemp


def run(copy: Path, *words: str) -> str:
    done = subprocess.run(
        [sys.executable, *words],
        cwd=ROOT,
        env={"PYTHONPATH": f"{copy}:{ROOT}", "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_new_component_is_explained(copy: Path) -> None:
    page = json.loads(run(copy, "-m", "stockman", "explain", "component", "podinfo", "-o", "json"))[
        "data"
    ]

    assert page["version"] == "6.9.2"
    assert [key["docs"] for key in page["settings"]] == ["Text on the page."]


def test_the_new_component_is_rendered_with_its_settings(copy: Path) -> None:
    printed = run(copy, "-c", RENDERED)

    assert "kubernetes/apps/demo/podinfo/app/helmrelease.yaml" in printed
    assert "message: ahoy" in printed
    assert "name: envoy-gateway-config" in printed
