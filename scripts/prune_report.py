"""Lists functions of the lab that nothing enters: `python -m scripts.prune_report COMMAND...`.

Runs each shell command with the lab instrumented, child processes included, and then prints the
functions that were never entered, with their positions and lengths. `--keep DIR` collects the
records of several calls in one directory; without a command, the report is made from those.
"""

from __future__ import annotations

import argparse
import ast
import os
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
LAB = ROOT / "lab" / "src" / "stockman_lab"


class Function(NamedTuple):
    """A function of the lab."""

    file: str
    """Relative to the source folder of the lab."""
    line: int
    name: str
    length: int

    @property
    def key(self) -> str:
        return f"{self.file}:{self.line}"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--keep", type=Path, help="directory of the records")
    parser.add_argument("commands", nargs="*", help="shell commands to run")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        records: Path = arguments.keep or Path(temporary)
        records.mkdir(parents=True, exist_ok=True)
        with instrument(records):
            for command in arguments.commands:
                # S602: the commands come from the developer's own command line.
                if subprocess.run(command, check=False, shell=True, cwd=ROOT).returncode:  # noqa: S602
                    print(f"prune-report: exit code is not 0: {command}", file=sys.stderr)
        report(entered_keys(records))
    return 0


@contextmanager
def instrument(records: Path) -> Iterator[None]:
    """Let every process of this environment record the functions of the lab that it enters."""
    start = Path(sysconfig.get_path("purelib")) / "stockman_prune_report.pth"
    path = str(Path(__file__).with_name("entered_functions.py"))
    install = f"['install']({str(LAB)!r}, {str(records.resolve())!r})"
    start.write_text(f"import runpy; runpy.run_path({path!r}){install}\n")
    # pytest would load the modules of the lab with its own loader, to rewrite their assertions.
    os.environ["PYTEST_ADDOPTS"] = "--assert=plain"
    try:
        yield
    finally:
        start.unlink()


def entered_keys(records: Path) -> set[str]:
    return {key for path in records.iterdir() for key in path.read_text("utf-8").splitlines()}


def functions() -> Iterator[Function]:
    for path in sorted(LAB.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                length = (node.end_lineno or node.lineno) - node.lineno + 1
                yield Function(path.relative_to(LAB).as_posix(), node.lineno, node.name, length)


def report(entered: set[str]) -> None:
    known = list(functions())
    unused = [function for function in known if function.key not in entered]
    for function in unused:
        print(f"{function.key} {function.name} ({function.length} lines)")
    total = sum(function.length for function in unused)
    print(f"{len(unused)} of {len(known)} functions were not entered: {total} lines")


if __name__ == "__main__":
    sys.exit(main())
