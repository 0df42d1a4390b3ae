"""`make bench`: every ratio with its limit; exits with 1 when one is over."""

from __future__ import annotations

import gc
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from bench.estates import estate
from bench.measure import least, least_call

ROUNDS = 15
ROOT = Path(__file__).parent.parent


class Ratio(NamedTuple):
    """One measured ratio; no limit: printed for the record."""

    name: str
    value: float
    limit: float | None
    detail: str


def start_ups(directory: Path) -> list[Ratio]:
    """Start of commands against the start of a bare interpreter."""
    python = sys.executable
    stockman = [python, "-m", "stockman"]
    commands = {
        "bare": [python, "-c", "pass"],
        "--version": [*stockman, "--version"],
        "--help": [*stockman, "--help"],
        "validate fifteen-node": [*stockman, "-C", str(directory), "validate"],
    }
    found = least(commands, environment(), ROUNDS)
    bare = found.pop("bare")
    limits = {"--version": 6.0, "--help": 6.0, "validate fifteen-node": 25.0}
    return [
        Ratio(
            f"{name} / bare interpreter",
            seconds / bare,
            limits[name],
            f"{seconds * 1000:.0f} ms / {bare * 1000:.0f} ms",
        )
        for name, seconds in found.items()
    ]


def growth() -> list[Ratio]:
    """Validation of 1,000 nodes against ten times that of 100."""
    from stockman.config.load import load
    from stockman.config.rules import check

    def validation(nodes: int) -> Callable[[], object]:
        contents = estate(nodes)

        def run() -> None:
            loaded = load(contents)
            check(loaded)
            if loaded.problems:
                raise RuntimeError(f"{nodes} nodes: {next(iter(loaded.problems))}")

        return run

    gc.freeze()
    found = least_call({"100": validation(100), "1000": validation(1000)}, ROUNDS)
    linear = 10 * found["100"]
    detail = f"{found['1000'] * 1000:.0f} ms / 10 x {found['100'] * 1000:.1f} ms"
    return [Ratio("validate 1,000 nodes / linear from 100", found["1000"] / linear, 1.3, detail)]


def beside_cue(directory: Path) -> list[Ratio]:
    """`stockman validate` against `cue vet` of the same files."""
    from tools.errors import ToolError
    from tools.provide import Provider

    try:
        cue = Provider().path("cue")
    except ToolError as missing:
        print(f"cue is left out: {missing}")
        return []
    definitions = ROOT / "tests" / "real" / "cue"
    stockman = [sys.executable, "-m", "stockman", "-C", str(directory), "validate"]
    schemas = sorted(str(path) for path in definitions.glob("*.cue"))
    commands = {
        "stockman": stockman,
        "cue": [str(cue), "vet", str(directory / "cluster.yaml"), *schemas],
    }
    found = least(commands, environment(), ROUNDS)
    detail = f"{found['stockman'] * 1000:.0f} ms / {found['cue'] * 1000:.0f} ms"
    return [Ratio("validate / cue vet", found["stockman"] / found["cue"], None, detail)]


def environment() -> dict[str, str]:
    """What measured programs see: nothing but where programs are."""
    return {"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/"), "LANG": "C.UTF-8"}


def report(ratios: list[Ratio]) -> int:
    """Print a table; the exit status."""
    over = False
    for one in ratios:
        verdict = "for the record" if one.limit is None else f"limit {one.limit:g}"
        if one.limit is not None and one.value > one.limit:
            verdict += "  OVER"
            over = True
        print(f"{one.name:42} {one.value:7.2f}   {verdict:20} {one.detail}")
    return 1 if over else 0


def main() -> int:
    """Measure everything."""
    from stockman.config.presets import render_preset

    with tempfile.TemporaryDirectory() as made:
        directory = Path(made)
        for name, text in render_preset("fifteen-node").items():
            (directory / name).write_text(text)
        return report([*start_ups(directory), *growth(), *beside_cue(directory)])


if __name__ == "__main__":
    sys.exit(main())
