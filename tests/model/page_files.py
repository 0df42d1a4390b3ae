"""Files that pages of problems show, for the calls that make the problem out of them."""

from tests.docs.pages import PROBLEMS, blocks


def shown(code: str) -> str:
    """The one file that the page of a code shows."""
    found = [
        block for block in blocks(PROBLEMS / f"{code}.md") if block.language in ("json", "yaml")
    ]
    (only,) = found
    return "".join(f"{line}\n" for line in only.lines)
