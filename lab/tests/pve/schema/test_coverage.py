"""How much of the schema is there is counted by folder."""

from __future__ import annotations

from stockman_lab.pve.schema.coverage import Covered, coverage, strangers
from stockman_lab.pve.schema.schema import Schema

VERSION = ("GET", "/version")
USERS = ("GET", "/access/users")
INVENTED = ("GET", "/invented")


def test_calls_are_counted_by_folder() -> None:
    schema = Schema.of("9.1")

    found = {covered.folder: covered for covered in coverage(schema, {VERSION, USERS, INVENTED})}

    assert found["/version"] == Covered("/version", 1, 1)
    assert found["/access"].implemented == 1
    assert found["/nodes"].implemented == 0
    assert sum(covered.total for covered in found.values()) == len(schema.operations)


def test_what_the_schema_does_not_have_is_a_stranger() -> None:
    assert strangers(Schema.of("9.1"), {VERSION, INVENTED}) == (INVENTED,)
