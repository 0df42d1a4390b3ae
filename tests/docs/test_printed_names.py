"""Command lines that the program prints, offers or writes down exist, options included."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from docs._ext.names import find_mistake

SOURCE = Path(__file__).parents[2] / "src" / "stockman"
PLACEHOLDERS = {"stockman COMMAND --help"}
"""What stands for any command."""
_QUOTED = re.compile(r"`(stockman [^`]+)`")


def texts(tree: ast.AST) -> Iterator[str]:
    """Every text of a module, with nothing where it puts a value."""
    parts: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            parts |= {id(one) for one in node.values}
            yield "".join(one.value for one in node.values if _is_text(one))  # type: ignore[attr-defined]  # it is
        elif _is_text(node) and id(node) not in parts:
            yield node.value  # type: ignore[attr-defined]  # it is


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def named(text: str) -> Iterator[str]:
    """Command lines in a text; those that a value is put into may end early."""
    yield from (one for one in _QUOTED.findall(text) if one not in PLACEHOLDERS)


def test_command_lines_in_what_is_printed_exist() -> None:
    found = {
        (path.relative_to(SOURCE).as_posix(), line)
        for path in SOURCE.rglob("*.py")
        for text in texts(ast.parse(path.read_text("utf-8")))
        for line in named(text)
    }

    wrong = sorted((path, told) for path, line in found if (told := find_mistake(line)))
    assert len(found) > 100
    assert wrong == []


def test_a_command_that_is_not_there_would_be_found() -> None:
    (line,) = (
        one for text in texts(ast.parse('x = f"run `stockman fly {where}`"')) for one in named(text)
    )

    assert find_mistake(line)
