"""The page of presets, with their files."""

from __future__ import annotations

from collections.abc import Iterator

from docs._ext.link_targets import GENERATED, of_preset
from docs._ext.markdown import block, code, page, table
from stockman.config.load import load
from stockman.config.presets import NETWORKS, PRESETS, SUMMARIES, render_preset


def pages() -> dict[str, str]:
    """Return page texts by path below `docs`, without suffix."""
    text = page(
        "# Presets",
        "",
        "Files that `stockman init --preset NAME` writes. Their first lines list the values that",
        "were invented. `--network CIDR` moves all addresses to another network.",
        "",
        table(("Preset", "Description", "Nodes", "Guests", "Network"), map(_row, PRESETS)),
        *(line for name in PRESETS for line in _preset(name)),
    )
    return {f"{GENERATED}/presets": text}


def _row(name: str) -> tuple[str, ...]:
    files = render_preset(name)
    estate = load({file: text.encode() for file, text in files.items()}).configuration
    return (
        f"[{code(name)}](#{of_preset(name).anchor})",
        SUMMARIES[name],
        str(len(estate.nodes)),
        str(len(estate.guests)),
        code(str(NETWORKS[name])),
    )


def _preset(name: str) -> Iterator[str]:
    yield f"({of_preset(name).anchor})="
    yield f"## {name}"
    yield ""
    yield f"{SUMMARIES[name][0].upper()}{SUMMARIES[name][1:]}."
    yield ""
    for file, text in render_preset(name).items():
        yield f"{code(file)}:"
        yield ""
        yield from block(text, "yaml")
