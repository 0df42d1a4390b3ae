"""The options that every command takes: names and help, for the parser and for the overview."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from stockman.cli.registry import EXAMPLES, Registry, by_section, children
from stockman.cli.terminal import layout


class Flag(NamedTuple):
    """One option as help shows it."""

    names: tuple[str, ...]
    help: str
    metavar: str = ""
    """Empty: the option takes no value."""

    @property
    def usage(self) -> str:
        names = ", ".join(self.names)
        return f"{names} {self.metavar}" if self.metavar else names


DIRECTORY = Flag(("-C",), "Run as if started in DIR; the default is $STOCKMAN_DIR.", "DIR")
VERBOSE = Flag(("-v", "--verbose"), "Tell more; twice, tell everything.")
QUIET = Flag(("-q", "--quiet"), "Tell nothing but data and problems.")
NO_COLOR = Flag(("--no-color",), "Print without colours, as $NO_COLOR does.")
DEBUG = Flag(("--debug",), "Show the trace of an error.")
VERSION = Flag(("--version",), "Print the version and nothing else.")
HELP = Flag(("-h", "--help"), "Show this text.")

COMMON = (DIRECTORY, VERBOSE, QUIET, NO_COLOR, DEBUG)
ROOT = (*COMMON, VERSION, HELP)


PURPOSE = "The whole life of a Talos Linux Kubernetes cluster on Proxmox VE."


def overview(registry: Registry, width: int) -> str:
    """All commands under their headings, the options, and examples."""
    return "\n".join(_overview_lines(registry, width))


def _overview_lines(registry: Registry, width: int) -> Iterator[str]:
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
