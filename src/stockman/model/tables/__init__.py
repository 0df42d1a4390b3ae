"""Facts about versions as data files, each with one owner and the day it was last refreshed.

Rows are named tuples, not records: `validate` reads them, and a record takes it longer to define
than all tables take to load.
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
"""One row of a table as it is written."""


class TableInfo(NamedTuple):
    """A table's own facts: who keeps it, how old it is, where its rows were read."""

    name: str
    owner: str
    refreshed: str
    """The day of the last refresh, YYYY-MM-DD."""
    source: tuple[str, ...]


def table_info(name: str) -> TableInfo:
    """Who keeps a table and how old it is."""
    text = read_table(name)
    return TableInfo(
        name=name,
        owner=text["owner"],
        refreshed=text["refreshed"],
        source=tuple(text["source"]),
    )


@cache
def read_table(name: str) -> TableRow:
    """A table as it is written; read once."""
    # The loader's own read: importlib.resources takes longer to import than all tables to load.
    loader = cast("SourceFileLoader", __spec__.loader)
    return cast("TableRow", loads(loader.get_data(f"{__path__[0]}/{name}.json")))
