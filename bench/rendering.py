"""A whole repository rendered by stockman, against makejinja on a tree of as many files.

    python -m bench.rendering

Prints the ratios with their limits; exits with 1 when one is over. CPU time of whole programs:
the first render of a fresh directory, the second one, and 50 clusters in one process.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import tempfile
from itertools import cycle, islice
from pathlib import Path
from time import process_time

from bench.measure import cpu_seconds
from bench.ratio import Ratio, report

ROUNDS = 10
CLUSTERS = 50
LIMIT = 0.4
GROWTH_LIMIT = 1.3
"""Linear, and a little for noise."""


def ratios() -> list[Ratio]:
    """Everything that is measured here."""
    with tempfile.TemporaryDirectory() as temporary:
        top = Path(temporary)
        fresh = _init_workspace(top / "fresh")
        count = _files(fresh, top / "counted")
        tree = _templates(top / "templates", count)
        first, second, makejinja = _least(fresh, tree, top)
    name = f"{count} files"
    return [
        Ratio(
            f"first render / makejinja on {name}",
            first / makejinja,
            LIMIT,
            _detail(first, makejinja),
        ),
        Ratio(
            f"second render / makejinja on {name}",
            second / makejinja,
            LIMIT,
            _detail(second, makejinja),
        ),
        _growth(),
    ]


def _init_workspace(folder: Path) -> Path:
    _cpu([sys.executable, "-m", "stockman", "init", str(folder), "--preset", "fifteen-node", "-q"])
    return folder


def _files(fresh: Path, folder: Path) -> int:
    shutil.copytree(fresh, folder)
    before = sum(path.is_file() for path in folder.rglob("*"))
    _cpu(_render(folder))
    return sum(path.is_file() for path in folder.rglob("*")) - before


def _least(fresh: Path, tree: Path, top: Path) -> tuple[float, float, float]:
    """The least of the first and second renders and of makejinja, over interleaved rounds."""
    first, second, makejinja = [], [], []
    for number in range(ROUNDS):
        folder = top / f"render-{number}"
        shutil.copytree(fresh, folder)
        first.append(_cpu(_render(folder)))
        second.append(_cpu(_render(folder)))
        makejinja.append(_cpu(_makejinja(tree, top / f"out-{number}")))
    return min(first), min(second), min(makejinja)


def _render(folder: Path) -> list[str]:
    return [sys.executable, "-m", "stockman", "-C", str(folder), "render", "-q"]


def _templates(folder: Path, count: int) -> Path:
    """A directory of makejinja whose tree has so many templates, all of the tests' own."""
    from tests.rendering.templates.trees import workspace

    top = workspace(folder, "classic")
    root = top / "templates/config"
    known = sorted(path for path in root.rglob("*.j2") if ".partial." not in path.name)
    for number, path in enumerate(islice(cycle(known), max(count - len(known), 0))):
        copy = path.with_name(f"copy-{number}-{path.name}")
        copy.write_bytes(path.read_bytes())
    return top


def _makejinja(tree: Path, folder: Path) -> list[str]:
    shutil.copytree(tree, folder)
    inside = f"cd {shlex.quote(str(folder))} && exec {shlex.quote(sys.executable)} -m makejinja"
    return ["sh", "-c", inside]


def _growth() -> Ratio:
    """The second half of many clusters in one process against the first half."""
    _spent(2)
    first, second = _spent(CLUSTERS // 2), _spent(CLUSTERS // 2)
    detail = f"{second * 1000:.0f} ms / {first * 1000:.0f} ms"
    name = f"later 25 / first 25 of {CLUSTERS} clusters"
    return Ratio(name, second / first, GROWTH_LIMIT, detail)


def _spent(count: int) -> float:
    from tests.catalog.estates import rendered

    begin = process_time()
    for _ in range(count):
        rendered(preset="fifteen-node")
    return process_time() - begin


def _cpu(command: list[str]) -> float:
    environment = {
        "LANG": "C.UTF-8",
        "PATH": os.environ["PATH"],
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    return cpu_seconds(command, environment)


def _detail(ours: float, theirs: float) -> str:
    return f"{ours * 1000:.0f} ms / {theirs * 1000:.0f} ms"


if __name__ == "__main__":
    sys.exit(report(ratios()))
