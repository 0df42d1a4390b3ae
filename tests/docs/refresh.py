"""Update the output of commands in the pages: `python -m tests.docs.refresh [PAGE...]`.

Use it after a change of messages or presets, and read the difference before you commit it.
"""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.docs import consoles, pages


def refresh(page: Path) -> list[str]:
    """Rewrite the output in a page; return the positions that could not be updated."""
    steps = consoles.steps(page)
    with TemporaryDirectory() as home:
        results = consoles.run([step.command for step in steps], Path(home))
    lines = page.read_text("utf-8").split("\n")
    failed = []
    for step, end in reversed(list(zip(steps, results, strict=False))):
        if not step.shown or consoles.matches_shown(end.printed, step.shown):
            continue
        fresh = consoles.update_shown(end.printed, step.shown)
        if fresh is None:
            failed.append(step.position)
            continue
        start = int(step.position.rpartition(":")[2]) + step.command.count("\n")
        lines[start : start + len(step.shown)] = fresh
    page.write_text("\n".join(lines), "utf-8")
    return failed


def main(names: list[str]) -> int:
    """Update pages, by default all; returns 1 if a position could not be updated."""
    chosen = [Path(name).resolve() for name in names] or pages.hand_written()
    failed = [position for page in chosen if consoles.steps(page) for position in refresh(page)]
    for position in failed:
        sys.stderr.write(f"{position}: the output has changed; update it by hand\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
