"""Tables of version facts as data files, each with an owner and a refresh date.

Rows are named tuples instead of records, because `validate` reads them, and defining records would
take longer than loading all tables.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from json import loads
from typing import TYPE_CHECKING, Any, NamedTuple, cast

if TYPE_CHECKING:
    from importlib.machinery import SourceFileLoader

TABLE_NAMES = ("talos", "kubernetes", "proxmox", "components", "extensions")

TableRow = Mapping[str, Any]
"""One row of a table, as written in the file."""


class TableInfo(NamedTuple):
    """Owner, age and sources of a table."""

    name: str
    owner: str
    refreshed: str
    """Date of the last refresh, YYYY-MM-DD."""
    source: tuple[str, ...]


def table_info(name: str) -> TableInfo:
    """Return the owner and age of a table."""
    text = read_table(name)
    return TableInfo(
        name=name,
        owner=text["owner"],
        refreshed=text["refreshed"],
        source=tuple(text["source"]),
    )


@cache
def read_table(name: str) -> TableRow:
    """Return the content of a table, which is read once."""
    # The loader's own read: importlib.resources takes longer to import than all tables to load.
    loader = cast("SourceFileLoader", __spec__.loader)
    return cast("TableRow", loads(loader.get_data(f"{__path__[0]}/{name}.json")))
