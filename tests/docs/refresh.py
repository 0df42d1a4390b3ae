"""Shows in the pages what their commands print now: `python -m tests.docs.refresh [PAGE...]`.

For those who changed a message or a preset: the difference is to be read before it is committed.
"""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.docs import consoles, pages


def refresh(page: Path) -> list[str]:
    """Rewrite the outputs that a page shows; the places that somebody has to look at."""
    steps = consoles.steps(page)
    with TemporaryDirectory() as home:
        ended = consoles.run([step.command for step in steps], Path(home))
    lines = page.read_text("utf-8").split("\n")
    puzzling = []
    for step, end in reversed(list(zip(steps, ended, strict=False))):
        if not step.shown or consoles.is_as_shown(end.printed, step.shown):
            continue
        fresh = consoles.made_anew(end.printed, step.shown)
        if fresh is None:
            puzzling.append(step.place)
            continue
        start = int(step.place.rpartition(":")[2]) + step.command.count("\n")
        lines[start : start + len(step.shown)] = fresh
    page.write_text("\n".join(lines), "utf-8")
    return puzzling


def main(names: list[str]) -> int:
    """Refresh pages, all without a name; 1 where one could not be."""
    chosen = [Path(name).resolve() for name in names] or pages.hand_written()
    puzzling = [place for page in chosen if consoles.steps(page) for place in refresh(page)]
    for place in puzzling:
        sys.stderr.write(f"{place}: the output is another one; choose what to show of it\n")
    return 1 if puzzling else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
