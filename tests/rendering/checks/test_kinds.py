"""Tables of kinds."""

from __future__ import annotations

import re

import pytest

from stockman.rendering.checks.kinds import SHAPES, KindShape, load_kind

TABLES = sorted(SHAPES.rglob("*.json"))


def tables() -> list[KindShape]:
    kind_shapes = []
    for path in TABLES:
        kind, _, version = path.stem.partition("_")
        api = version if path.parent.name == "core" else f"{path.parent.name}/{version}"
        table = load_kind(api, kind)
        assert table is not None
        kind_shapes.append(table)
    return kind_shapes


def test_every_shape_refers_to_shapes_that_there_are() -> None:
    for table in tables():
        for number, shape in enumerate(table.shapes):
            inner = (*shape.get("fields", {}).values(), shape.get("items"), shape.get("each"))
            numbers = [item for item in inner if isinstance(item, int)]
            assert all(item < len(table.shapes) for item in numbers)
            assert number not in numbers


def test_every_pattern_can_be_compiled() -> None:
    patterns = [
        shape["pattern"] for table in tables() for shape in table.shapes if "pattern" in shape
    ]

    assert len(patterns) > 50
    assert all(re.compile(pattern) for pattern in patterns)


def test_the_tables_are_small() -> None:
    assert sum(path.stat().st_size for path in TABLES) < 300_000


@pytest.mark.parametrize(
    ("version", "kind"),
    [
        ("v1", "Meadow"),
        ("example.com/v1", "Secret"),
        ("../core/v1", "Secret"),
        ("/v1", "Secret"),
        ("v1", "../core/Secret"),
        ("v1\0", "Secret"),
        ("", ""),
    ],
)
def test_other_names_have_no_table(version: str, kind: str) -> None:
    assert load_kind(version, kind) is None
