"""How a check can end besides well, and how Go words several errors."""

from __future__ import annotations

from collections.abc import Sequence


class Failing(Exception):
    """A check that does not pass, or not yet."""


class Skipped(Exception):
    """A check that does not apply."""


def listed_errors(errors: Sequence[str]) -> str:
    """Errors in the list of Go's multierror."""
    count = "1 error" if len(errors) == 1 else f"{len(errors)} errors"
    return f"{count} occurred:\n\t* " + "\n\t* ".join(errors) + "\n\n"


def quoted(texts: Sequence[str]) -> str:
    """Texts as Go prints a list of quoted ones: `["a" "b"]`."""
    return "[" + " ".join(f'"{text}"' for text in texts) + "]"


def plain(texts: Sequence[str]) -> str:
    """Texts as Go prints a list of them: `[a b]`."""
    return "[" + " ".join(texts) + "]"
