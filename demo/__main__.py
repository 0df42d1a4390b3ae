"""`python -m demo`: stockman at work on a lab; `--record FILE` makes the picture instead."""

from __future__ import annotations

import argparse
import shutil
import sys
import time
from pathlib import Path

from rich.console import Console

from demo.places import NoNetwork, free_network, scene_of_action
from demo.stage import Unexpected, ended_in_order, play
from demo.story import CASTS, Cast, afterwards, story


def main() -> int:
    """Show the story, or record it; the exit status of this process."""
    wanted = _arguments()
    cast = CASTS[wanted.preset]
    console = Console(highlight=False, soft_wrap=True)
    try:
        with ended_in_order():
            if wanted.record is not None:
                from demo.picture import record

                record(wanted.record, cast)
            else:
                _show(cast, console, keep=wanted.keep)
    except (Unexpected, NoNetwork) as surprise:
        sys.stderr.write(f"demo: {surprise}\n")
        return 1
    except KeyboardInterrupt:
        sys.stderr.write("demo: interrupted; everything that it started is gone\n")
        return 130
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m demo", description="See stockman at work.")
    parser.add_argument("--preset", choices=sorted(CASTS), default="three-node")
    parser.add_argument("--keep", action="store_true", help="leave the lab running")
    parser.add_argument("--record", metavar="FILE", type=Path, help="make a picture of the run")
    return parser.parse_args()


def _show(cast: Cast, console: Console, *, keep: bool) -> None:
    begun = time.monotonic()
    with scene_of_action(keep=keep) as home:
        network = free_network()
        play(story(cast, network), console, home)
        console.print()
        seconds = time.monotonic() - begun
        console.print(f"# {cast.preset}: from nothing to a plan that is empty, with a host that")
        console.print(f"# died on the way, in {seconds:.0f} s", style="bold")
        if keep:
            console.print(f"The lab runs on. In {home / cast.directory}:")
            if program := shutil.which("stockman"):
                console.print(f'  export PATH="{Path(program).parent}:$PATH"', style="cyan")
        else:
            console.print("These commands work after `make demo KEEP=1`, which leaves the lab:")
        for line in afterwards(cast, network):
            console.print(f"  {line}", style="cyan")
        if keep:
            console.print("To stop it:")
            stop = f"  stockman -C {home / cast.directory} lab down; rm -r {home}"
            console.print(stop, style="cyan")
        else:
            console.print("The lab was stopped, and nothing of it is left.")


if __name__ == "__main__":
    sys.exit(main())
