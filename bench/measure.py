"""CPU time of programs and functions: the least of many interleaved runs.

CPU time, because the wall clock measures the neighbours too; interleaved, so that both sides of a
ratio meet the same weather.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence

Command = Sequence[str]


def cpu_seconds(command: Command, environment: Mapping[str, str]) -> float:
    """User and system time of one run, its children included."""
    process = subprocess.Popen(
        command, env=dict(environment), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise RuntimeError(f"{' '.join(command)} ended with {process.returncode}")
    return usage.ru_utime + usage.ru_stime


def least(
    commands: Mapping[str, Command], environment: Mapping[str, str], rounds: int
) -> dict[str, float]:
    """The least CPU time of each command over interleaved rounds."""
    best = dict.fromkeys(commands, float("inf"))
    for _ in range(rounds):
        for name, command in commands.items():
            best[name] = min(best[name], cpu_seconds(command, environment))
    return best


def least_call(functions: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """The least CPU time of each function over interleaved rounds."""
    best = dict.fromkeys(functions, float("inf"))
    for _ in range(rounds):
        for name, function in functions.items():
            begin = time.process_time()
            function()
            best[name] = min(best[name], time.process_time() - begin)
    return best
