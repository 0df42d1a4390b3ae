"""The real `talosctl machineconfig patch`, and Talos' library, as judges of pairs."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path

from tests.talos.patches.pairs import Pair, Writer

TALOSCTL = {"1.11": "1.11.5", "1.12": "1.12.1", "1.13": "1.13.9", "1.14": "1.14.1"}
LIBRARY = {**TALOSCTL, "1.12": "1.12.6"}
"""The table of 1.12 is that of the newest patch release that can be had, not of the program's."""
_OPERATED = 10
"""One of so many pairs has a JSON patch."""


def pairs(minor: str, count: int, seed: str) -> list[Pair]:
    """So many pairs that follow from a seed."""
    verdicts = []
    for index in range(count):
        writer = Writer(minor, f"{seed}-{index}")
        verdicts.append(writer.operated() if index % _OPERATED == 0 else writer.pair())
    return verdicts


def patched_by_talosctl(program: Path, pair: Pair, directory: Path) -> str | None:
    """What the program prints. None: it refuses."""
    config = directory / "config.yaml"
    config.write_text(pair.config, encoding="utf-8")
    command: list[str | Path] = [program, "machineconfig", "patch", config]
    for index, text in enumerate(pair.patches):
        patch = directory / f"patch-{index}.yaml"
        patch.write_text(text, encoding="utf-8")
        command += ["--patch", f"@{patch}"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    return ended.stdout if ended.returncode == 0 else None


def patched_by_library(program: Path, all_pairs: Sequence[Pair]) -> list[str | None]:
    """What the library makes of each pair. None: it refuses."""
    lines = [
        json.dumps({"config": all_pair.config, "patches": all_pair.patches})
        for all_pair in all_pairs
    ]
    ended = subprocess.run(
        [program, "apply"],
        input="\n".join([*lines, ""]),
        capture_output=True,
        text=True,
        check=True,
    )
    return [json.loads(line).get("text") for line in ended.stdout.splitlines()]
