"""All reference pages that are generated from the code."""

from __future__ import annotations

from pathlib import Path

from docs._ext import (
    commands,
    compatibility,
    components,
    exit_codes,
    keys,
    lab_calls,
    lab_faults,
    lab_talos,
    presets,
    problems,
)
from docs._ext.link_targets import GENERATED

_GENERATORS = (
    commands,
    keys,
    problems,
    components,
    exit_codes,
    presets,
    compatibility,
    lab_calls,
    lab_faults,
    lab_talos,
)


def generate_pages() -> dict[str, str]:
    """Return page texts by path below `docs`, without suffix."""
    return {path: text for generator in _GENERATORS for path, text in generator.pages().items()}


def write(docs: Path) -> None:
    """Write all changed pages, and delete stale ones."""
    texts = {docs / f"{path}.md": text for path, text in generate_pages().items()}
    for stale in set((docs / GENERATED).rglob("*.md")).difference(texts):
        stale.unlink()
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text("utf-8") != text:
            path.write_text(text, "utf-8")
