"""Two processes race for lock and journal on a real S3 server: never two holders."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

from tests.real.versitygw import ACCESS_KEY, SECRET_KEY, versitygw_served
from tools.pytest_plugin import RealTool

ROUNDS = 200
ROOT = Path(__file__).parents[2]


class Racer:
    """One of the processes."""

    def __init__(self, name: str, url: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.real.lock_racer", name, url, ACCESS_KEY, SECRET_KEY],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"},
        )

    def say(self, word: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{word}\n")
        self.process.stdin.flush()

    def told(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def end(self) -> None:
        self.process.communicate(timeout=60)


def both(racers: list[Racer], word: str) -> list[str]:
    """What both answer to a word that they are told at the same time."""
    for racer in racers:
        racer.say(word)
    return [racer.told() for racer in racers]


def test_of_two_processes_exactly_one_gets_the_lock_each_time(
    real_tool: RealTool, tmp_path: Path
) -> None:
    folder = tmp_path / "real"
    with ExitStack() as stack:
        url = stack.enter_context(versitygw_served(real_tool("versitygw"), folder))
        (folder / "data" / "flock").mkdir()
        racers = [Racer(name, url) for name in ("anna", "bert")]
        for racer in racers:
            stack.callback(racer.end)

        rounds = [(both(racers, "take"), both(racers, "free"))[0] for _ in range(ROUNDS)]

    held = [[one for one in told if one.startswith("held")] for told in rounds]
    wrote = [[one for one in told if one.endswith("wrote")] for told in rounds]
    assert [len(one) for one in held] == [1] * ROUNDS
    assert [len(one) for one in wrote] == [1] * ROUNDS
    tokens = [int(one[0].split()[1]) for one in held]
    assert tokens == sorted(set(tokens))
