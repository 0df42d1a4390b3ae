"""All reference pages that are made from the code."""

from __future__ import annotations

from pathlib import Path

from docs._ext import (
    commands,
    compatibility,
    components,
    exits,
    keys,
    lab_calls,
    lab_faults,
    lab_talos,
    presets,
    problems,
)
from docs._ext.places import GENERATED

_MAKERS = (
    commands,
    keys,
    problems,
    components,
    exits,
    presets,
    compatibility,
    lab_calls,
    lab_faults,
    lab_talos,
)


def generated() -> dict[str, str]:
    """Page texts by path below `docs`, without suffix."""
    return {path: text for maker in _MAKERS for path, text in maker.pages().items()}


def write(docs: Path) -> None:
    """Write every page that changed, and remove those of things that are gone."""
    texts = {docs / f"{path}.md": text for path, text in generated().items()}
    for stale in set((docs / GENERATED).rglob("*.md")).difference(texts):
        stale.unlink()
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text("utf-8") != text:
            path.write_text(text, "utf-8")
