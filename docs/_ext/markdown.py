"""Pieces of Markdown as the generated pages use them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence


def code(text: str) -> str:
    """A text as inline code, whatever it holds."""
    fence = "`" * (1 + _longest_run(text))
    edge = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{edge}{text}{edge}{fence}"


def block(text: str, language: str = "") -> Iterator[str]:
    """A text as a block of code."""
    fence = "`" * max(3, 1 + _longest_run(text))
    yield f"{fence}{language}"
    yield from text.rstrip("\n").split("\n")
    yield fence
    yield ""


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """A table; cells are Markdown, and may hold bars."""
    yield _row(head)
    yield _row(["---"] * len(head))
    for row in rows:
        yield _row(row)
    yield ""


def contents(names: Iterable[str]) -> Iterator[str]:
    """A list of pages that belong below this one, not shown: a table shows them better."""
    yield "```{toctree}"
    yield ":hidden:"
    yield ""
    yield from names
    yield "```"
    yield ""


def page(*parts: Iterable[str]) -> str:
    """The text of a page."""
    lines = [line for part in parts for line in ([part] if isinstance(part, str) else part)]
    return "\n".join(lines).rstrip("\n") + "\n"


def _row(cells: Sequence[str]) -> str:
    return " | ".join(["", *(cell.replace("|", r"\|") for cell in cells), ""]).strip()


def _longest_run(text: str) -> int:
    longest = run = 0
    for character in text:
        run = run + 1 if character == "`" else 0
        longest = max(longest, run)
    return longest
