"""The pages that users read, and the pieces of them that tests look at."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
GENERATED = DOCS / "reference" / "generated"
"""Made anew by each build, and so not looked at as files."""
PROBLEMS = ROOT / "src" / "stockman" / "model" / "problems"
LAB_PROBLEMS = ROOT / "lab" / "src" / "stockman_lab" / "problems"

NOT_RUN = re.compile(r"<!-- not run: (?P<reason>\S.*) -->")
"""Above a block of commands that no test can run, and why."""
NOT_YET = "<!-- not yet there -->"
"""Above a block of commands that do not exist yet."""

_FENCE = re.compile(r"(?P<mark>`{3,}|~{3,})(?P<language>.*)")
_INLINE = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.DOTALL)


class Block(NamedTuple):
    """A fenced block of a page."""

    page: Path
    line: int
    """Line of its first fence."""
    language: str
    lines: tuple[str, ...]
    above: str
    """The last line with text before it."""

    @property
    def place(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


class Inline(NamedTuple):
    """A piece of inline code."""

    page: Path
    line: int
    text: str

    @property
    def place(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def hand_written() -> list[Path]:
    """Every page that somebody wrote: README and its like, the site, the pages of problems."""
    site = [page for page in DOCS.rglob("*.md") if GENERATED not in page.parents]
    top = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")]
    return sorted([*top, *site, *PROBLEMS.glob("*.md"), *LAB_PROBLEMS.glob("*.md")])


def problem_file(code: str) -> Path:
    """The page of a problem, of the product or of the lab."""
    page = PROBLEMS / f"{code}.md"
    return page if page.exists() else LAB_PROBLEMS / page.name


def blocks(page: Path) -> list[Block]:
    """The fenced blocks of a page."""
    return list(_blocks(page))


def prose(page: Path) -> str:
    """The text of a page without its fenced blocks; they leave empty lines."""
    lines = page.read_text("utf-8").split("\n")
    for block in blocks(page):
        for number in range(block.line - 1, block.line + len(block.lines) + 1):
            lines[number] = ""
    return "\n".join(lines)


def inline(page: Path) -> list[Inline]:
    """The inline code of a page."""
    text = prose(page)
    return [
        Inline(page, text.count("\n", 0, found.start()) + 1, " ".join(found[2].split()))
        for found in _INLINE.finditer(text)
    ]


def _blocks(page: Path) -> Iterator[Block]:
    above = mark = ""
    start = 0
    language = ""
    inside: list[str] = []
    for number, line in enumerate(page.read_text("utf-8").split("\n"), 1):
        fence = _FENCE.fullmatch(line.strip())
        if mark:
            if fence is not None and fence["mark"].startswith(mark) and not fence["language"]:
                yield Block(page, start, language, tuple(inside), above)
                mark, above, inside = "", "", []
            else:
                inside.append(line)
        elif fence is not None:
            mark, language, start = fence["mark"], fence["language"].strip(), number
        elif line.strip():
            above = line.strip()
