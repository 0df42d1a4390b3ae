"""Files of a repository that do not become part of an artifact."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

IGNORE_FILE = ".sourceignore"
_USUAL = (
    *(".git/", ".gitignore", ".gitmodules", ".gitattributes"),
    *("*.jpg", "*.jpeg", "*.gif", "*.png", "*.wmv", "*.flv", "*.tar.gz", "*.zip"),
    *(".github/", ".circleci/", ".travis.yml", ".gitlab-ci.yml", "appveyor.yml", ".drone.yml"),
    *("cloudbuild.yaml", "codeship-services.yml", "codeship-steps.yml"),
    *("**/.goreleaser.yml", "**/.sops.yaml", "**/.flux.yaml"),
)


@dataclass(frozen=True, slots=True)
class _Pattern:
    form: re.Pattern[str]
    below: str
    is_folder: bool
    is_kept: bool


def kept_files(contents: Mapping[str, bytes], more: str) -> dict[str, bytes]:
    """The files that no pattern leaves out: usual ones, those of files, and further lines."""
    patterns = [_pattern(item, "") for item in _USUAL]
    for path in sorted(contents):
        if path == IGNORE_FILE or path.endswith(f"/{IGNORE_FILE}"):
            text = contents[path].decode("utf-8", "replace")
            patterns += _read(text, path.rpartition("/")[0])
    patterns += _read(more, "")
    return {path: content for path, content in contents.items() if not _is_out(path, patterns)}


def _read(text: str, below: str) -> list[_Pattern]:
    lines = (line for line in text.splitlines() if line.strip() and not line.startswith("#"))
    return [_pattern(line, below) for line in lines]


def _pattern(line: str, below: str) -> _Pattern:
    text = line.strip()
    is_kept = text.startswith("!")
    text = text.removeprefix("!").removeprefix("\\")
    is_folder = text.endswith("/")
    text = text.rstrip("/")
    is_rooted = "/" in text
    parts = [_part(part) for part in text.lstrip("/").split("/")]
    form = "/".join(parts).replace("(?:.*)/", "(?:.*/)?")
    if form.endswith("/(?:.*)"):
        form = f"{form.removesuffix('/(?:.*)')}/.+"
    return _Pattern(re.compile(form if is_rooted else f"(?:.*/)?{form}"), below, is_folder, is_kept)


def _part(part: str) -> str:
    if part == "**":
        return "(?:.*)"
    escape = re.escape(part).replace(r"\*", "[^/]*").replace(r"\?", "[^/]")
    return re.sub(r"\\\[(.*?)\\\]", r"[\1]", escape)


def _is_out(path: str, patterns: list[_Pattern]) -> bool:
    """Whether the last pattern that speaks of a file, or of a folder above it, leaves it out.

    Other than in Git, a file can be kept though a folder above it is left out.
    """
    for pattern in reversed(patterns):
        inner = path.removeprefix(f"{pattern.below}/") if pattern.below else path
        if pattern.below and inner == path:
            continue
        parts = inner.split("/")
        places = (
            "/".join(parts[:depth]) for depth in range(1, len(parts) + (not pattern.is_folder))
        )
        if any(pattern.form.fullmatch(key) for key in places):
            return not pattern.is_kept
    return False
