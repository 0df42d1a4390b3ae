"""The page of exit codes."""

from __future__ import annotations

from docs._ext.link_targets import GENERATED, of_exit
from docs._ext.markdown import code, page, table
from stockman.cli.output import Exit


def pages() -> dict[str, str]:
    """Return page texts by path below `docs`, without suffix."""
    rows = (
        (f"{code(str(int(status)))}{{#{of_exit(status).anchor}}}", status.meaning)
        for status in Exit
    )
    text = page(
        "# Exit codes",
        "",
        "All commands use the same exit codes.",
        "",
        table(("Code", "Meaning"), rows),
    )
    return {f"{GENERATED}/exit-codes": text}
