"""`python -m demo`: stockman at work on a lab; `--record FILE` makes the picture instead."""

from __future__ import annotations

import argparse
import shutil
import sys
import time
from pathlib import Path

from demo.places import NoNetwork, free_network, scene_of_action
from demo.stage import Unexpected, ended_in_order, play, print_line
from demo.story import CASTS, Cast, afterwards, story
from stockman.cli.terminal.screen import OutputClosed


def main() -> int:
    """Show the story, or record it; the exit status of this process."""
    wanted = _arguments()
    cast = CASTS[wanted.preset]
    try:
        with ended_in_order():
            if wanted.record is not None:
                from demo.picture import record

                record(wanted.record, cast)
            else:
                _show(cast, keep=wanted.keep)
    except (Unexpected, NoNetwork) as surprise:
        sys.stderr.write(f"demo: {surprise}\n")
        return 1
    except OutputClosed:
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


def _show(cast: Cast, *, keep: bool) -> None:
    begun = time.monotonic()
    with scene_of_action(keep=keep) as home:
        network = free_network()
        play(story(cast, network), print_line, home)
        print_line()
        seconds = time.monotonic() - begun
        print_line(f"# {cast.preset}: from nothing to a plan that is empty, with a host that")
        print_line(f"# died on the way, in {seconds:.0f} s", "heading")
        if keep:
            print_line(f"The lab runs on. In {home / cast.directory}:")
            if program := shutil.which("stockman"):
                print_line(f'  export PATH="{Path(program).parent}:$PATH"', "name")
        else:
            print_line("These commands work after `make demo KEEP=1`, which leaves the lab:")
        for line in afterwards(cast, network):
            print_line(f"  {line}", "name")
        if keep:
            print_line("To stop it:")
            stop = f"  stockman -C {home / cast.directory} lab down; rm -r {home}"
            print_line(stop, "name")
        else:
            print_line("The lab was stopped, and nothing of it is left.")


if __name__ == "__main__":
    sys.exit(main())
