"""The options that every command takes: names and help, for the parser and for the overview."""

from __future__ import annotations

from typing import NamedTuple


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
