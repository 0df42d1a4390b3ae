"""Random files of any kind end in a tree or in problems: never a trace, never a hang."""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest

from stockman.config.load import CONFIG_FILES, load
from stockman.config.resolve import resolve
from stockman.config.rules import check_rules
from stockman.model.errors import Refused

SECONDS = 60
LONGEST = 5.0
"""Seconds that one input may take on a busy machine before it counts as a hang."""
INPUTS = Path(__file__).parent.parent
PIECES = (
    b"[",
    b"]",
    b"{",
    b"}",
    b": ",
    b"- ",
    b"\n",
    b"  ",
    b"\t",
    b"&a ",
    b"*a",
    b"<<: *a",
    b"!t ",
    b"'",
    b'"',
    b"|\n",
    b">\n",
    b"---\n",
    b"#",
    b",",
    b"=",
    b"[[nodes]]\n",
    b"\xff",
    b"\x00",
    b"~",
    b"null",
    b"ENC[AES256_GCM,data:x]",
    b"${X}",
    b"0x1f",
    b"1e999",
    b"\xc2\x85",
    b"? ",
    b"127.66.0.0/0",
    b"9" * 30,
    b"true",
    b"\r\n",
    b'"""',
    b"'''",
    b".",
    b"nodes:",
    b"vm: ",
)


def seeds() -> list[dict[str, bytes]]:
    directories = [*(INPUTS / "valid").iterdir(), *(INPUTS / "invalid").iterdir()]
    return [
        {
            name: (directory / name).read_bytes()
            for name in CONFIG_FILES
            if (directory / name).exists()
        }
        for directory in sorted(directories)
    ]


def mutated(content: bytes, dice: random.Random) -> bytes:
    data = bytearray(content)
    for _ in range(dice.randint(1, 8)):
        place = dice.randrange(len(data) + 1)
        action = dice.randrange(5)
        if action == 0:
            data[place:place] = dice.choice(PIECES) * dice.choice((1, 1, 1, 2, 50, 500))
        elif action == 1:
            del data[place : place + dice.randrange(1, 40)]
        elif action == 2 and data:
            data[place % len(data)] = dice.randrange(256)
        elif action == 3:
            randrange = dice.randrange(len(data) + 1)
            data[place:place] = data[min(place, randrange) : max(place, randrange)][:400]
        else:
            lines = bytes(data).split(b"\n")
            dice.shuffle(lines)
            data = bytearray(b"\n".join(lines))
    return bytes(data)


def understand(contents: dict[str, bytes]) -> None:
    loaded = load(contents)
    check_rules(loaded)
    for problem in loaded.problems:
        assert str(problem)
    try:
        resolve(loaded)
    except Refused:
        assert loaded.problems.errors or loaded.encrypted


@pytest.mark.parametrize("dialect", ["yaml", "toml"])
def test_a_minute_of_broken_files_finds_no_trace_and_no_hang(dialect: str) -> None:
    dice = random.Random()
    state = dice.getrandbits(64)
    print(f"seed {state}")
    dice.seed(state)
    inputs = [seed for seed in seeds() if ("cluster.toml" in seed) == (dialect == "toml")]
    end = time.monotonic() + SECONDS / 2
    count = 0
    while time.monotonic() < end:
        seed = dice.choice(inputs)
        broken = {name: mutated(content, dice) for name, content in seed.items()}
        begin = time.monotonic()
        understand(broken)
        assert time.monotonic() - begin < LONGEST, broken
        count += 1
    print(f"{count} inputs")
    assert count > 100
