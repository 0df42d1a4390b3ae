"""Files that do not become part of an artifact."""

from __future__ import annotations

import pytest
from stockman_lab.kube.flux.ignoring import kept_files

_PATHS = ("a.yaml", "b.png", ".github/x.yml", "apps/a.yaml", "apps/deep/b.yaml", "docs/c.md")


def kept(more: str, **files: str) -> list[str]:
    contents = dict.fromkeys(_PATHS, b"")
    contents |= {path.replace("__", "/"): text.encode() for path, text in files.items()}
    return list(kept_files(contents, more))


def test_pictures_and_files_of_other_services_are_left_out() -> None:
    assert kept("") == ["a.yaml", "apps/a.yaml", "apps/deep/b.yaml", "docs/c.md"]


@pytest.mark.parametrize(
    ("more", "found"),
    [
        ("/*\n!/apps\n", ["apps/a.yaml", "apps/deep/b.yaml"]),
        ("# all\n/*\n!/apps/\n", ["apps/a.yaml", "apps/deep/b.yaml"]),
        ("/*\n!/apps/deep/\n", ["apps/deep/b.yaml"]),
        ("/*\n!/apps/deep/b.yaml\n", ["apps/deep/b.yaml"]),
        ("deep/\n", ["a.yaml", "apps/a.yaml", "docs/c.md"]),
        ("**/*.yaml\n", ["docs/c.md"]),
        ("*.yaml\n!apps/deep/*.yaml\n", ["apps/deep/b.yaml", "docs/c.md"]),
        ("/apps/**\n", ["a.yaml", "docs/c.md"]),
        ("apps/a.yaml\n", ["a.yaml", "apps/deep/b.yaml", "docs/c.md"]),
        ("[ab].yaml\n", ["docs/c.md"]),
    ],
)
def test_further_lines_leave_out_more(more: str, found: list[str]) -> None:
    assert kept(more) == found


def test_a_file_of_a_folder_speaks_for_the_folder() -> None:
    found = kept_files({**dict.fromkeys(_PATHS, b""), "apps/.sourceignore": b"a.yaml\n"}, "")
    assert "a.yaml" in found
    assert "apps/a.yaml" not in found
