"""A thousand Talos nodes in the files: memory and time of plans and runs.

    python -m bench.nodes_memory           plans of 100 and 1,000 nodes that are not there yet
    python -m bench.nodes_memory apply     and all their VMs made, and the machines in them found,
                                           which takes some minutes

Prints the ratios with their limits; exits with 1 when one is over.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from bench.ratio import Ratio, report
from bench.vm_lab import AT_ONCE, vm_lab
from bench.vm_sides import CHANGES, Side, stockman_nodes

FEWER, MANY = 100, 1_000
_MOST_MIB = 500.0
_PLAN = ("plan", "--only", "vms", "--only", "talos")
_APPLY = ("apply", "--only", "vms", "--yes")


def ratios(*, apply: bool = False) -> list[Ratio]:
    """Memory of the process of stockman alone, and how time grows."""
    with tempfile.TemporaryDirectory() as folder, vm_lab(AT_ONCE) as lab:
        fewer = stockman_nodes(Path(folder, "fewer"), lab, FEWER).run(*_PLAN, status=CHANGES)
        side = stockman_nodes(Path(folder, "many"), lab, MANY)
        many = side.run(*_PLAN, status=CHANGES)
        measured = [
            Ratio(
                f"MiB of a plan of {MANY:,} nodes",
                many.mib,
                _MOST_MIB,
                f"{fewer.mib:.0f} MiB of {FEWER}",
            ),
            Ratio(
                f"plan of {MANY:,} nodes / 10 x {FEWER}",
                many.cpu / (10 * fewer.cpu),
                None,
                f"{many.cpu:.1f} s / 10 x {fewer.cpu:.1f} s of CPU",
            ),
        ]
        return [*measured, *(_applied(side) if apply else [])]


def _applied(side: Side) -> list[Ratio]:
    taken = side.run(*_APPLY)
    again = side.run("plan", "--only", "vms")
    waiting = side.run(*_PLAN, status=CHANGES)
    return [
        Ratio(
            f"MiB of a run that makes {MANY:,} VMs",
            taken.mib,
            _MOST_MIB,
            f"{taken.wall:.0f} s, {taken.cpu:.0f} s of CPU",
        ),
        Ratio(
            f"MiB of a plan that finds {MANY:,} VMs",
            again.mib,
            _MOST_MIB,
            f"{again.wall:.0f} s, {again.cpu:.0f} s of CPU",
        ),
        Ratio(
            f"MiB of a plan that finds {MANY:,} machines in maintenance mode",
            waiting.mib,
            _MOST_MIB,
            f"{waiting.wall:.0f} s, {waiting.cpu:.0f} s of CPU",
        ),
    ]


def main(arguments: list[str]) -> int:
    """Measure what is asked for."""
    return report(ratios(apply=arguments == ["apply"]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
