"""The guided tour names few files, and each file defines or uses the names that the tour gives."""

import ast
import re
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.docs import pages

TOUR = pages.DOCS / "explanation" / "guided-tour.md"
MAX_FILES = 6
MAX_FILES_OF_A_VALUE = 10
WALK = "The way of one value"

_ROW = re.compile(r"\| \[(?P<text>[^]]+)\]\((?P<link>[^)]+)\) \| (?P<names>[^|]*)\|")
_NAME = re.compile(r"`([A-Za-z_][\w.]*)`")


class Row(NamedTuple):
    """A row of a table: a file, and the names to look for in it."""

    text: str
    file: Path
    names: tuple[str, ...]


def sections() -> dict[str, list[Row]]:
    title, rows = "", dict[str, list[Row]]()
    for line in TOUR.read_text("utf-8").splitlines():
        if line.startswith("## "):
            title = line.removeprefix("## ")
            rows[title] = []
        elif (row := _ROW.match(line)) is not None:
            file = (TOUR.parent / row["link"]).resolve()
            rows[title].append(Row(row["text"], file, tuple(_NAME.findall(row["names"]))))
    return rows


SECTIONS = sections()
ROWS = [row for rows in SECTIONS.values() for row in rows]


def names_in(file: Path) -> set[str]:
    """All names that a module defines or uses, methods and fields as `Class.name`."""
    names = set[str]()
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        match node:
            case ast.ClassDef(name=name, body=body):
                names |= {name, *(f"{name}.{member}" for member in _member_names(body))}
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.Name(id=name):
                names.add(name)
    return names


def _member_names(body: list[ast.stmt]) -> set[str]:
    names = set[str]()
    for node in body:
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                names.add(name)
            case ast.AnnAssign(target=ast.Name(id=name)):
                names.add(name)
    return names


def test_the_tour_has_five_questions_and_one_walk() -> None:
    assert len([title for title in SECTIONS if title.endswith("?")]) == 5
    assert list(SECTIONS)[-1] == WALK
    assert all(SECTIONS.values())


@pytest.mark.parametrize("title", SECTIONS)
def test_an_answer_needs_few_files(title: str) -> None:
    assert len(SECTIONS[title]) <= (MAX_FILES_OF_A_VALUE if title == WALK else MAX_FILES)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.text)
def test_a_file_of_the_tour_exists_under_the_path_that_is_shown(row: Row) -> None:
    assert row.file.is_file()
    assert str(row.file).endswith(row.text.replace("\\", ""))


@pytest.mark.parametrize("row", [row for row in ROWS if row.names], ids=lambda row: row.text)
def test_a_file_of_the_tour_has_the_names_to_look_for(row: Row) -> None:
    assert set(row.names) - names_in(row.file) == set()
