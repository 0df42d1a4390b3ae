"""Damaged directories of other tools end in files or in problems: never a trace."""

from __future__ import annotations

import random
import time

from tests.talos.imports.adopting import from_talhelper, from_topf
from tests.talos.imports.directories import ALL
from tests.talos.imports.topf_directories import meadow
from tests.talos.machine.clusters import TALOS

SECONDS = 60
VALUES = (
    *("null", "[]", "{}", "0", "true", "-1", '"x"', "[1, {a: b}]", "{a: [b]}", "1e9", "~"),
    *("${X}", "$$", "{{ .a }}", "999.1.1.1/99", "v1.12", "!!binary x", "*a", "&a b"),
)
SIGNS = "{}[]:\"'$@|-# 0x\t&*"


def test_damage_ends_in_files_or_in_problems() -> None:
    seed = time.time_ns()
    print(f"seed {seed}")
    dice = random.Random(seed)
    end = time.monotonic() + SECONDS
    taken = 0
    while time.monotonic() < end:
        line = dice.choice(list(TALOS))
        name = dice.choice([*ALL, "topf"])
        files = dict(meadow(line) if name == "topf" else ALL[name](line))
        chosen = dice.choice([*files, *[next(iter(files))] * len(files)])
        files[chosen] = damaged(files[chosen], dice)

        result = from_topf(files) if name == "topf" else from_talhelper(files)

        assert result.files or result.problems.errors
        taken += bool(result.files)
    assert taken


def damaged(text: str, dice: random.Random) -> str:
    lines = text.split("\n")
    for _ in range(dice.randint(1, 3)):
        at = dice.randrange(len(lines))
        line = lines[at]
        cut = dice.randrange(len(line) + 1)
        lines[at] = dice.choice(
            [
                "",
                f"{line}\n{line}",
                f"{line[:cut]}{dice.choice(SIGNS)}{line[cut + 1 :]}",
                f"{line.partition(': ')[0]}: {dice.choice(VALUES)}",
                line[:cut],
                f"  {line}",
            ]
        )
    return "\n".join(lines)
