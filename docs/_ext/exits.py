"""The page of exit codes."""

from __future__ import annotations

from docs._ext.markdown import code, page, table
from docs._ext.places import GENERATED, of_exit
from stockman.cli.exit import Exit


def pages() -> dict[str, str]:
    """Page texts by path below `docs`, without suffix."""
    rows = ((f"{code(str(int(one)))}{{#{of_exit(one).anchor}}}", one.meaning) for one in Exit)
    text = page(
        "# Exit codes",
        "",
        "What a command's exit code says. They are the same for every command.",
        "",
        table(("Code", "Meaning"), rows),
        "`3` and `4` belong to commands that change things; of those, only `stockman init` exists",
        "yet, which ends with `4` when it had to leave something out.",
    )
    return {f"{GENERATED}/exit-codes": text}
