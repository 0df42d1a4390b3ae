"""The common options and the text of `stockman --help`, built without loading any command."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from stockman.cli.registry import EXAMPLES, Registry, by_section, children
from stockman.cli.terminal import layout


class Flag(NamedTuple):
    """An option and its help."""

    names: tuple[str, ...]
    help: str
    metavar: str = ""
    """Empty: the option is a flag."""

    @property
    def usage(self) -> str:
        names = ", ".join(self.names)
        return f"{names} {self.metavar}" if self.metavar else names


DIRECTORY = Flag(("-C",), "Run as if started in DIR; defaults to $STOCKMAN_DIR.", "DIR")
VERBOSE = Flag(
    ("-v", "--verbose"),
    "Print more details and changing requests; repeat for all requests.",
)
QUIET = Flag(("-q", "--quiet"), "Only print data and errors.")
NO_COLOR = Flag(("--no-color",), "Disable colors, like $NO_COLOR.")
DEBUG = Flag(("--debug",), "Show the traceback of an error.")
VERSION = Flag(("--version",), "Print the version and exit.")
HELP = Flag(("-h", "--help"), "Show this help and exit.")

COMMON = (DIRECTORY, VERBOSE, QUIET, NO_COLOR, DEBUG)
ROOT = (*COMMON, VERSION, HELP)


PURPOSE = "Manage the whole life of a Talos Linux Kubernetes cluster on Proxmox VE."


def overview(registry: Registry, width: int) -> str:
    """Return the overview: commands by section, options and examples."""
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
    yield from layout.paragraph(
        "Use `stockman COMMAND --help` for more information about a command.", width
    )
