"""Pages whose commands need other programs, followed with those programs."""

from __future__ import annotations

from itertools import zip_longest
from pathlib import Path

from tests.docs import consoles, pages
from tools.pytest_plugin import RealTool

PAGE = pages.ROOT / "docs" / "how-to" / "use-a-lab-cluster.md"
PROGRAMS = {"kubectl": "kubectl", "flux": "flux", "talosctl": "talosctl@1.13.9"}


def test_a_reader_works_on_a_cluster_of_the_lab(tmp_path: Path, real_tool: RealTool) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    for name, tool in PROGRAMS.items():
        (programs / name).symlink_to(real_tool(tool))
    blocks = [block for block in pages.blocks(PAGE) if block.language == "console"]
    steps = [step for block in blocks for step in consoles.commands(block)]

    ended = consoles.run([step.command for step in steps], tmp_path)

    for step, end in zip_longest(steps, ended):
        assert end is not None, f"{step.position}: the shell ended before this command"
        told = f"{step.position}: {step.command}\n" + "\n".join(end.printed)
        assert end.status == 0, told
        assert not step.shown or consoles.matches_shown(end.printed, step.shown), told
