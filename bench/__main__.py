"""`make bench`: every ratio with its limit; exits with 1 when one is over."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from bench import (
    crypto,
    etcd,
    kubernetes,
    lab,
    machine_configs,
    nodes_memory,
    rendering,
    talos,
    templates,
    thousand,
    vms,
)
from bench.estates import estate
from bench.measure import least, least_call
from bench.ratio import Ratio, report

ROUNDS = 15
ROOT = Path(__file__).parent.parent


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
    limits = {"--version": 6.0, "--help": 2.5, "validate fifteen-node": 10.0}
    return [
        Ratio(
            f"{name} / bare interpreter",
            seconds / bare,
            limits[name],
            f"{seconds * 1000:.0f} ms / {bare * 1000:.0f} ms",
        )
        for name, seconds in found.items()
    ]


def growth(directory: Path) -> list[Ratio]:
    """Validation of 1,000 nodes against ten times that of 100: the command, and reading alone."""
    commands = {}
    for nodes in (100, 1000):
        place = directory / str(nodes)
        place.mkdir()
        for name, content in estate(nodes).items():
            (place / name).write_bytes(content)
        commands[str(nodes)] = [sys.executable, "-m", "stockman", "-C", str(place), "validate"]
    whole = least(commands, environment(), ROUNDS)
    inner = least_call({"100": reading(100), "1000": reading(1000)}, ROUNDS)
    return [
        Ratio(
            f"{name} of 1,000 nodes / 10 x 100 nodes",
            found["1000"] / (10 * found["100"]),
            1.3,
            f"{found['1000'] * 1000:.0f} ms / 10 x {found['100'] * 1000:.1f} ms",
        )
        for name, found in (("validate", whole), ("reading and rules", inner))
    ]


def reading(nodes: int) -> Callable[[], object]:
    """A function that reads and checks the files of so many nodes."""
    from stockman.config.load import load
    from stockman.config.rules import check_rules

    contents = estate(nodes)

    def run() -> None:
        loaded = load(contents)
        check_rules(loaded)
        if loaded.problems:
            raise RuntimeError(f"{nodes} nodes: {next(iter(loaded.problems))}")

    return run


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
    data = str(directory / "cluster.yaml")
    commands = {
        "stockman": stockman,
        "cue": [str(cue), "vet", data, str(definitions / "cluster.cue"), "-d", "#Cluster"],
    }
    found = least(commands, environment(), ROUNDS)
    detail = f"{found['stockman'] * 1000:.0f} ms / {found['cue'] * 1000:.0f} ms"
    return [Ratio("validate / cue vet", found["stockman"] / found["cue"], None, detail)]


def environment() -> dict[str, str]:
    """What measured programs see: nothing but where programs are."""
    kept = ("PATH", "HOME", "PYTHONPATH")
    return {"LANG": "C.UTF-8"} | {name: os.environ[name] for name in kept if name in os.environ}


def main() -> int:
    """Measure everything."""
    from stockman.config.presets import render_preset

    with tempfile.TemporaryDirectory() as made:
        directory = Path(made)
        for name, text in render_preset("fifteen-node").items():
            (directory / name).write_text(text)
        found = [*start_ups(directory), *growth(directory), *beside_cue(directory)]
    found += [*crypto.ratios(), *machine_configs.ratios(), *templates.ratios()]
    found += [*rendering.ratios(), *lab.ratios(), *talos.ratios(), *etcd.ratios()]
    found += [*thousand.ratios(), *kubernetes.ratios()]
    found += [*vms.ratios(), *nodes_memory.ratios()]
    return report(found)


if __name__ == "__main__":
    sys.exit(main())
