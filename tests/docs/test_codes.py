"""Every problem code of the source has a page, and every page a code."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from stockman.model.problems import problem_codes
from tests.docs.pages import LAB_PROBLEMS, PROBLEMS, ROOT

SOURCES = (ROOT / "src", ROOT / "lab" / "src")
_CODE = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*\.[a-z0-9]+(-[a-z0-9]+)*")
_FUNCTIONS_WITH_CODES = ("_Codes", "_Use", "_once", "_refuse")
"""Records and functions that get a code and create a problem later."""


def codes_in(file: Path) -> Iterator[str]:
    """Return the problem codes in a file."""
    tree = ast.parse(file.read_text("utf-8"))
    constants = {
        target.id: node.value
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in ast.walk(tree):
        for expression in _code_expressions(node) if isinstance(node, ast.Call) else ():
            if isinstance(expression, ast.Name):
                yield from _texts(constants.get(expression.id, expression))
            else:
                yield from _texts(expression)


def _code_expressions(call: ast.Call) -> Iterator[ast.expr]:
    yield from (keyword.value for keyword in call.keywords if keyword.arg == "code")
    match call.func:
        case ast.Attribute(attr="error" | "warn"):
            yield from call.args[:1]
        case ast.Name(id=name) | ast.Attribute(attr=name) if name in _FUNCTIONS_WITH_CODES:
            yield from call.args


def _texts(expression: ast.AST) -> Iterator[str]:
    for node in ast.walk(expression):
        match node:
            case ast.Constant(value=str(text)) if _CODE.fullmatch(text):
                yield text


def used_codes() -> set[str]:
    return {code for source in SOURCES for file in source.rglob("*.py") for code in codes_in(file)}


def test_every_code_of_the_source_has_a_page() -> None:
    assert sorted(used_codes().difference(problem_codes())) == []


def test_every_page_is_of_a_code_that_the_source_uses() -> None:
    files = [file for source in SOURCES for file in source.rglob("*.py")]
    texts = {text for file in files for text in _texts(ast.parse(file.read_text("utf-8")))}

    assert sorted(set(problem_codes()).difference(texts)) == []


def test_pages_start_with_their_code() -> None:
    pages = [*PROBLEMS.glob("*.md"), *LAB_PROBLEMS.glob("*.md")]
    titles = {page.stem: page.read_text("utf-8").split("\n")[0] for page in pages}

    assert titles == {code: f"# {code}" for code in problem_codes()}
