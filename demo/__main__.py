"""`python -m demo`: run the demo; `--record FILE` records it as an SVG."""

from __future__ import annotations

import argparse
import shutil
import sys
import time
from pathlib import Path

from demo.runner import DemoFailed, play, print_line, stop_on_signals
from demo.sandbox import NoFreeNetwork, free_network, temporary_home
from demo.steps import DEMO_PRESETS, DemoPreset, demo_steps, follow_up_commands
from stockman.cli.terminal.screen import OutputClosed


def main() -> int:
    """Run or record the demo; returns the exit status."""
    options = _parse_arguments()
    preset = DEMO_PRESETS[options.preset]
    try:
        with stop_on_signals():
            if options.record is not None:
                from demo.picture import record

                record(options.record, preset)
            else:
                _show(preset, keep=options.keep)
    except (DemoFailed, NoFreeNetwork) as error:
        sys.stderr.write(f"demo: {error}\n")
        return 1
    except OutputClosed:
        return 1
    except KeyboardInterrupt:
        sys.stderr.write("demo: interrupted; all its processes were stopped\n")
        return 130
    return 0


def _parse_arguments() -> argparse.Namespace:
    description = "Run stockman on simulated hosts."
    parser = argparse.ArgumentParser(prog="python -m demo", description=description)
    parser.add_argument("--preset", choices=sorted(DEMO_PRESETS), default="three-node")
    parser.add_argument("--keep", action="store_true", help="leave the lab running")
    parser.add_argument("--record", metavar="FILE", type=Path, help="record the run as an SVG")
    return parser.parse_args()


def _show(preset: DemoPreset, *, keep: bool) -> None:
    start = time.monotonic()
    with free_network() as network, temporary_home(keep=keep) as home:
        play(demo_steps(preset, network), print_line, home)
        print_line()
        seconds = time.monotonic() - start
        result = f"# {preset.name}: from nothing to an empty plan, with a failed host"
        print_line(f"{result}, in {seconds:.0f} s", "heading")
        if keep:
            print_line(f"The lab is still running. In {home / preset.directory}:")
            if program := shutil.which("stockman"):
                print_line(f'  export PATH="{Path(program).parent}:$PATH"', "name")
        else:
            print_line("After `make demo KEEP=1` the lab keeps running, and these commands work:")
        for line in follow_up_commands(preset, network):
            print_line(f"  {line}", "name")
        if keep:
            print_line("To stop it:")
            stop = f"  stockman -C {home / preset.directory} lab down; rm -r {home}"
            print_line(stop, "name")
        else:
            print_line("The lab was stopped and removed.")


if __name__ == "__main__":
    sys.exit(main())
