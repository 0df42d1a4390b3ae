"""VMs made and looked at, beside OpenTofu with the provider of bpg, on the same lab.

    python -m bench.vms            fifteen made in real time, a hundred looked at
    python -m bench.vms 100        a hundred made in real time: some minutes
    python -m bench.vms 1000       a thousand looked at: some more

Prints the ratios with their limits; exits with 1 when one is over.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from heapq import heappop, heappush
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, NamedTuple

from bench.ratio import Ratio, report
from bench.vm_lab import AT_ONCE, REAL_TIME, VmLab, vm_lab
from bench.vm_sides import Taken, opentofu, stockman

if TYPE_CHECKING:
    from stockman.steps.plan import Plan

FEW, MANY = 15, 100
ROUNDS = 6
"""Both throw their dice in the order of their calls: in a single round one may be luckier."""
_PLANS = 3
_LIMITS = {FEW: 0.57, MANY: 0.5}
"""Fifteen are less than two rounds of the ten at a time that OpenTofu makes: whoever wasted no time
at all would come to a half, by a simulation with the times that the lab rolls."""
_APPLY = ("apply", "--only", "vms", "--yes")
_TOFU_APPLY = ("apply", "-auto-approve", "-no-color")
_TOFU_PLAN = ("plan", "-detailed-exitcode", "-no-color")


def ratios() -> list[Ratio]:
    """What is measured whenever anything is."""
    from tools.errors import ToolError
    from tools.provide import Provider

    try:
        for name in ("tofu", "terraform-provider-proxmox"):
            Provider().path(name)
    except ToolError as missing:
        print(f"OpenTofu is left out: {missing}")
        return []
    return [*temporary(FEW, ROUNDS), *made_with_agents(FEW), *looked_at(MANY, _PLANS)]


def temporary(count: int, rounds: int = 1) -> list[Ratio]:
    """VMs made in real time by both, without an agent to wait for.

    Each round has dice of its own, the same for both: on average they are equally lucky.
    """
    ours, tofu = [], []
    for seed in range(1, rounds + 1):
        ours.append(_made_by_us(count, seed=seed))
        tofu.append(_made_by_tofu(count, seed=seed))
    run, theirs = fmean(item.run for item in ours), fmean(tofu)
    whole = fmean(item.whole for item in ours)
    longest = max(ours, key=lambda item: item.run / item.path)
    return [
        Ratio(
            f"apply of {count} VMs / tofu apply",
            run / theirs,
            _LIMITS[count],
            f"{run:.1f} s / {theirs:.1f} s; {whole:.1f} s with start and plan",
        ),
        Ratio(
            f"apply of {count} VMs / its critical path",
            longest.run / longest.path,
            1.2,
            f"{longest.run:.1f} s / {longest.path:.1f} s",
        ),
    ]


def made_with_agents(count: int) -> list[Ratio]:
    """VMs as stockman makes them by itself; with an agent, the provider waits for its answer."""
    ours, tofu = _made_by_us(count, agent=True).run, _made_by_tofu(count, agent=True)
    name = f"apply of {count} VMs with agents / tofu apply"
    return [Ratio(name, ours / tofu, 0.5, f"{ours:.1f} s / {tofu:.1f} s")]


class _Made(NamedTuple):
    """Seconds of a run."""

    whole: float
    """Of the command, with its start and the plan."""
    run: float
    """From the plan to the end."""
    path: float
    """Of the critical path of its plan."""


def _made_by_us(count: int, *, seed: int = 1, agent: bool = False) -> _Made:
    with _place(REAL_TIME, seed) as (folder, lab):
        side = stockman(folder / "stockman", lab, count, agent=agent)
        whole = side.run(*_APPLY).wall
        return _Made(whole, *_run_of(side.folder))


def _made_by_tofu(count: int, *, seed: int = 1, agent: bool = False) -> float:
    with _place(REAL_TIME, seed) as (folder, lab):
        return opentofu(folder / "tofu", lab, count, agent=agent).run(*_TOFU_APPLY).wall


def looked_at(count: int, rounds: int = 1) -> list[Ratio]:
    """Plans of VMs of which none has changed."""
    with _place(AT_ONCE) as (folder, lab):
        side = stockman(folder / "stockman", lab, count)
        side.run(*_APPLY)
        ours = [side.run("plan") for _ in range(rounds)]
    with _place(AT_ONCE) as (folder, lab):
        side = opentofu(folder / "tofu", lab, count)
        side.run(*_TOFU_APPLY)
        theirs = [side.run(*_TOFU_PLAN) for _ in range(rounds)]
    wall, tofu = _least_wall(ours), _least_wall(theirs)
    memory = max(item.mib for item in ours)
    return [
        Ratio(
            f"plan of {count} VMs / tofu plan",
            wall / tofu,
            0.2,
            f"{wall:.2f} s / {tofu:.2f} s, {memory:.0f} MiB",
        )
    ]


def _least_wall(runs: list[Taken]) -> float:
    return min(item.wall for item in runs)


@contextmanager
def _place(speed: str, seed: int = 1) -> Iterator[tuple[Path, VmLab]]:
    with tempfile.TemporaryDirectory() as folder, vm_lab(speed, seed) as lab:
        yield Path(folder), lab


def _run_of(folder: Path) -> tuple[float, float]:
    """Seconds of the last run from its plan to its end, and of the critical path of that plan.

    The path is the longest chain of steps, each of which waits for those that it needs and for
    room on its lanes, with the seconds that each really took: from the entry before its effect to
    the one after its last look. First looks, gates, and the engine itself take no time there.
    """
    from stockman.engine.journal import EntryType, parse_journal
    from stockman.steps.plan import parse_plan

    run = max((folder / ".stockman" / "runs").glob("*/"))
    entries, _ = parse_journal((run / "journal.jsonl").read_bytes(), str(run))
    began = {item.step: item.at for item in entries if item.event is EntryType.STARTED}
    took = {
        item.step: (item.at - began[item.step]).total_seconds()
        for item in entries
        if item.event is EntryType.FINISHED and item.step in began
    }
    plan = parse_plan((run / "plan.json").read_text(), str(run))
    return (entries[-1].at - entries[0].at).total_seconds(), _path(plan, took)


def _path(plan: Plan, took: Mapping[str, float]) -> float:
    from stockman.engine.executor import StepQueue
    from stockman.model.parallelism import MAX_PARALLEL

    waiting = StepQueue(plan, frozenset())
    busy: Counter[str] = Counter()
    running: list[tuple[float, str]] = []
    now = 0.0
    while True:
        for step in waiting.take(MAX_PARALLEL - len(running), busy):
            heappush(running, (now + took.get(step.id, 0.0), step.id))
        if not running:
            return now
        now, name = heappop(running)
        busy.subtract(plan.step(name).lanes)
        waiting.release_followers(plan.step(name))


def main(arguments: list[str]) -> int:
    """Measure what is asked for."""
    match arguments:
        case ["1000"]:
            return report(looked_at(1000))
        case ["100"]:
            return report(temporary(MANY))
        case _:
            return report(ratios())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
