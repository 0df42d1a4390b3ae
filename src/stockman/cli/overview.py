"""The text of `stockman --help`, made without loading any command or the parser."""

from __future__ import annotations

from collections.abc import Iterator

from stockman.cli import layout
from stockman.cli.flags import ROOT
from stockman.cli.registry import EXAMPLES, Registry, by_section, children

PURPOSE = "The whole life of a Talos Linux Kubernetes cluster on Proxmox VE."


def overview(registry: Registry, width: int) -> str:
    """All commands under their headings, the options, and examples."""
    return "\n".join(_lines(registry, width))


def _lines(registry: Registry, width: int) -> Iterator[str]:
    yield from layout.paragraph("Usage: stockman [OPTIONS] COMMAND [ARGS]...", width)
    yield ""
    yield from layout.paragraph(PURPOSE, width, "  ")
    commands = children(registry, "")
    longest = max(map(len, commands), default=0)
    for heading, rows in by_section(commands).items():
        yield ""
        yield f"{heading}:"
        yield from layout.definitions(rows, width, longest=longest)
    yield ""
    yield "Options:"
    yield from layout.definitions([(flag.usage, flag.help) for flag in ROOT], width)
    yield ""
    yield "Examples:"
    yield from layout.examples(EXAMPLES, width)
    yield ""
    yield from layout.paragraph("`stockman COMMAND --help` says more about a command.", width)
