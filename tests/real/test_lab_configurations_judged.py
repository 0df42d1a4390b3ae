"""`talosctl validate` of every minor accepts and rejects the same as machines of the lab."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from stockman_lab.talos.config.verdict import static_verdict

from lab.tests.talos.config.configurations import nodes
from stockman.talos.patches.schema import MINORS
from tests.talos.validation.bad import bad
from tests.talos.validation.judge import TALOSCTL
from tests.talos.validation.mutations import good_documents, text_of
from tools.pytest_plugin import RealTool

WORKERS = 2
BAD_STEP, GOOD_STEP = 2, 6
"""Every n-th case is checked, others for the next minor."""
WORKER = "version: v1alpha1\nmachine:\n  type: worker\n"
UNREADABLE = {
    "empty": "",
    "a list": "- a\n",
    "a word": "hello\n",
    "a key twice": "machine:\n  type: worker\n  type: worker\n",
    "no kind": "apiVersion: v1alpha1\nname: x\n",
    "another version": "apiVersion: v2\nkind: WatchdogTimerConfig\n",
    "a section that is a number": f"{WORKER}  install: 5\n",
    "the oldest twice": f"{WORKER}---\n{WORKER}",
    "a list that is a mapping": f"{WORKER}  certSANs: {{a: b}}\n",
    "a quote that is not closed": 'machine: "abc\n',
}


def list_cases(minor: str) -> Iterator[tuple[str, str, bool, bool]]:
    """Name, text, strictness and expected verdict."""
    for name, text in UNREADABLE.items():
        yield name, text, False, False
    rejected = [bad_case for bad_case in bad() if minor in bad_case.refused]
    for bad_case in rejected[MINORS.index(minor) % BAD_STEP :: BAD_STEP]:
        yield bad_case.name, bad_case.case.text, bad_case.case.strict, False
    for contract in MINORS[: MINORS.index(minor) + 1]:
        for name, config in nodes("everything", contract).items():
            yield f"{contract} {name}", config.decode(), False, True
    for document in good_documents(minor)[MINORS.index(minor) :: GOOD_STEP]:
        yield str(document["kind"]), text_of([document]), False, True


def is_accepted(program: Path, path: Path, text: str, *, strict: bool) -> bool:
    path.write_text(text, encoding="utf-8")
    command: list[str | Path] = [program, "validate", "-c", path, "--mode", "metal"]
    return not subprocess.run(
        command + (["--strict"] if strict else []), capture_output=True, check=False
    ).returncode


@pytest.mark.parametrize("minor", MINORS)
def test_the_lab_and_talosctl_agree(minor: str, real_tool: RealTool, tmp_path: Path) -> None:
    program = real_tool(f"talosctl@{TALOSCTL[minor]}")
    listed = list(list_cases(minor))

    def difference(number: int) -> str:
        name, text, strict, expected = listed[number]
        real = is_accepted(program, tmp_path / str(number), text, strict=strict)
        lab = static_verdict(text.encode(), minor, "metal", strict=strict).accepted
        return "" if real is lab is expected else f"{name}: talosctl {real}, lab {lab}"

    with ThreadPoolExecutor(WORKERS) as pool:
        differences = [text for text in pool.map(difference, range(len(listed))) if text]

    assert differences == []
    assert len(listed) >= 60
