"""Command lines in the texts of the program exist, including their options."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from docs._ext.names import find_mistake

SOURCE = Path(__file__).parents[2] / "src" / "stockman"
PLACEHOLDERS = {"stockman COMMAND --help"}
"""Placeholders for any command."""
_QUOTED = re.compile(r"`(stockman [^`]+)`")


def texts(tree: ast.AST) -> Iterator[str]:
    """Return all texts of a module; values of f-strings are left out."""
    in_f_strings: set[int] = set()
    for node in ast.walk(tree):
        match node:
            case ast.JoinedStr(values=values):
                in_f_strings |= {id(value) for value in values}
                yield "".join(
                    str(value.value) for value in values if isinstance(value, ast.Constant)
                )
            case ast.Constant(value=str(text)) if id(node) not in in_f_strings:
                yield text


def command_lines(text: str) -> Iterator[str]:
    """Return the command lines in a text; those with values of f-strings may be incomplete."""
    yield from (line for line in _QUOTED.findall(text) if line not in PLACEHOLDERS)


def test_command_lines_in_printed_texts_exist() -> None:
    lines = {
        (path.relative_to(SOURCE).as_posix(), line)
        for path in SOURCE.rglob("*.py")
        for text in texts(ast.parse(path.read_text("utf-8")))
        for line in command_lines(text)
    }

    wrong = sorted((path, mistake) for path, line in lines if (mistake := find_mistake(line)))
    assert len(lines) > 100
    assert wrong == []


def test_a_command_that_does_not_exist_is_reported() -> None:
    tree = ast.parse('x = f"run `stockman fly {where}`"')

    (line,) = (line for text in texts(tree) for line in command_lines(text))

    assert find_mistake(line)
