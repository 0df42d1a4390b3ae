"""A tree of templates rendered by stockman and by makejinja, each in a process of its own.

    python -m bench.templates

Prints the ratio with its limit; exits with 1 when it is over. CPU time, start of the interpreter
and reading of the configuration included.
"""

from __future__ import annotations

import os
import shlex
import sys
import tempfile
from pathlib import Path

from bench.measure import least
from bench.ratio import Ratio, report

ROUNDS = 9
LIMIT = 1.0
"""The tree is full of expressions, and both sides compile them with the same Jinja."""


def ratios() -> list[Ratio]:
    """Everything that is measured here."""
    from tests.rendering.templates.trees import workspace

    python = sys.executable
    environment = {
        "LANG": "C.UTF-8",
        "PATH": os.environ["PATH"],
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    with tempfile.TemporaryDirectory() as temporary:
        top = workspace(Path(temporary), "classic")
        templates = len(list(top.glob("templates/**/*.j2")))
        inside = f"cd {shlex.quote(str(top))} && exec {shlex.quote(python)} -m makejinja"
        commands = {
            "stockman": [python, "-m", "bench.templates", str(top)],
            "makejinja": ["sh", "-c", inside],
        }
        measured = least(commands, environment, ROUNDS)
    detail = (
        f"{measured['stockman'] * 1000:.0f} ms / {measured['makejinja'] * 1000:.0f} ms"
        f" for {templates} templates"
    )
    ratio = measured["stockman"] / measured["makejinja"]
    return [Ratio("render templates / makejinja", ratio, LIMIT, detail)]


def render_once(top: Path) -> None:
    """What is measured: one tree, from its files to its results in memory."""
    from stockman.app.workspace.directory import load_directory
    from stockman.config.resolve import resolve
    from stockman.model.problem import Problems
    from stockman.model.secret import Secret
    from stockman.rendering.templates.contract import CLASSIC, Limits
    from stockman.rendering.templates.functions import KEY_FILES
    from stockman.rendering.templates.names import template_names
    from stockman.rendering.templates.render import TemplateInputs, render_templates
    from stockman.rendering.templates.tree import read_tree

    loaded = load_directory(top)
    key_files = {
        name: Secret((top / name).read_text()) for name in KEY_FILES if (top / name).exists()
    }
    sources = TemplateInputs(names=template_names(loaded, resolve(loaded)), key_files=key_files)
    rendering = render_templates(read_tree(top, CLASSIC, Problems(), Limits()), sources)
    if rendering.problems:
        raise RuntimeError(str(next(iter(rendering.problems))))


if __name__ == "__main__":
    if len(sys.argv) == 2:
        render_once(Path(sys.argv[1]))
        sys.exit(0)
    sys.exit(report(ratios()))
