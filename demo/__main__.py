"""`python -m demo`: stockman at work; `--record FILE` makes the picture instead."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from rich.console import Console

from demo.stage import Unexpected, play
from demo.story import STORY


def main() -> int:
    """Show the story, or record it; the exit status of this process."""
    parser = argparse.ArgumentParser(prog="python -m demo", description="See stockman at work.")
    parser.add_argument("--record", metavar="FILE", type=Path, help="make a picture of the run")
    target: Path | None = parser.parse_args().record
    try:
        if target is None:
            play(STORY, Console(highlight=False, soft_wrap=True))
        else:
            from demo.picture import record

            record(target)
    except Unexpected as surprise:
        sys.stderr.write(f"demo: {surprise}\n")
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
