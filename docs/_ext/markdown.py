"""Markdown of the generated pages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence


def code(text: str) -> str:
    """Return a text as inline code, also if it contains backticks."""
    fence = "`" * (1 + _longest_run(text))
    edge = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{edge}{text}{edge}{fence}"


def block(text: str, language: str = "") -> Iterator[str]:
    """Return a text as a code block."""
    fence = "`" * max(3, 1 + _longest_run(text))
    yield f"{fence}{language}"
    yield from text.rstrip("\n").split("\n")
    yield fence
    yield ""


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Return a table; cells are Markdown, and may contain bars."""
    yield _row(head)
    yield _row(["---"] * len(head))
    for row in rows:
        yield _row(row)
    yield ""


def contents(names: Iterable[str]) -> Iterator[str]:
    """Return a hidden table of contents; a visible table shows more."""
    yield "```{toctree}"
    yield ":hidden:"
    yield ""
    yield from names
    yield "```"
    yield ""


def page(*blocks: Iterable[str]) -> str:
    """Return the text of a page."""
    lines: list[str] = []
    for content in blocks:
        lines += [content] if isinstance(content, str) else content
    return "\n".join(lines).rstrip("\n") + "\n"


def _row(cells: Sequence[str]) -> str:
    return " | ".join(["", *(cell.replace("|", r"\|") for cell in cells), ""]).strip()


def _longest_run(text: str) -> int:
    longest = run = 0
    for character in text:
        run = run + 1 if character == "`" else 0
        longest = max(longest, run)
    return longest
