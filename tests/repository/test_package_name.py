"""Nothing installs a package of the index that has the name of the program.

The name `stockman` on the Python package index belongs to another project, and `stockman-talos` is
not registered.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from tests.rendering.shapes import drawn, shaped, texts

ROOT = Path(__file__).parents[2]
INSTALLS = re.compile(
    r"""\b(?:pip3?|pipx|uv|uvx|poetry|pdm)(?=\s)[^\n]*?[\s"'=]"""
    r"""(stockman(?:-talos)?(?:-lab)?(?:\[[a-z,]+\])?)(?=$|[\s"'`=<>~!,;)}])""",
    re.MULTILINE,
)
REQUIRES = re.compile(r"\bstockman(?:-talos)?(?:-lab)?\s*(?:==|~=|>=)\s*[\d{$]")


def installations(text: str) -> list[str]:
    return [match[0] for form in (INSTALLS, REQUIRES) for match in form.finditer(text)]


@pytest.mark.parametrize(
    "text",
    [
        "pip install stockman",
        'pip install "stockman-talos[lab]"',
        "uv tool install stockman",
        "uvx stockman validate",
        "- run: pip install 'stockman==1.2'",
        "stockman=={version}",
    ],
)
def test_an_installation_by_name_is_found(text: str) -> None:
    assert installations(text)


@pytest.mark.parametrize(
    "text", ["pip install ./stockman", 'pip install "$STOCKMAN_PACKAGE"', "stockman lab up"]
)
def test_an_installation_from_files_is_not(text: str) -> None:
    assert not installations(text)


@pytest.mark.parametrize("more", ["", "repository: {ci: gitlab}\n", "repository: {tasks: true}\n"])
def test_no_rendered_file_installs_by_name(more: str) -> None:
    rendered = texts(drawn(shaped(more)))

    assert {name: found for name, text in rendered.items() if (found := installations(text))} == {}


def test_no_file_of_the_repository_installs_by_name() -> None:
    listed = subprocess.run(
        [
            "git",
            "ls-files",
            "-z",
            "src",
            "lab",
            "docs",
            "demo",
            "scripts",
            "*.md",
            ".ci",
            ".github",
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split("\0")
    found = {
        name: hits
        for name in filter(None, listed)
        if (ROOT / name).is_file()
        and not name.endswith("pyproject.toml")  # the lab depends on the product of its version
        and (hits := installations((ROOT / name).read_text(errors="replace")))
    }

    assert found == {}
