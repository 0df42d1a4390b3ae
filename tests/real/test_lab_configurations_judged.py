"""`talosctl validate` of every minor judges what the lab's machines take and refuse."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from stockman_lab.talos.config.judging import judged

from lab.tests.talos.config.configurations import nodes
from stockman.talos.patches.schema import MINORS
from tests.talos.validation.bad import bad
from tests.talos.validation.judge import TALOSCTL
from tests.talos.validation.mutations import good_documents, text_of
from tools.pytest_plugin import RealTool

AT_ONCE = 2
EACH = 2
"""One of so many, others for the next minor, so that all are asked for by some."""
FEWER = 6
WORKER = "version: v1alpha1\nmachine:\n  type: worker\n"
UNREADABLE = {
    "empty": "",
    "a comment": "# nothing\n",
    "a list": "- a\n",
    "a word": "hello\n",
    "a key twice": "machine:\n  type: worker\n  type: worker\n",
    "no kind": "apiVersion: v1alpha1\nname: x\n",
    "no version": "kind: LinkConfig\nname: x\n",
    "another version": "apiVersion: v2\nkind: WatchdogTimerConfig\n",
    "a section that is a number": f"{WORKER}  install: 5\n",
    "a switch that is a word": "debug: maybe\nmachine:\n  type: worker\n",
    "the oldest twice": f"{WORKER}---\n{WORKER}",
    "an unknown key in a list": (
        f"{WORKER}  network:\n    interfaces:\n      - interface: eth0\n        dhpc: true\n"
    ),
    "a list that is a mapping": f"{WORKER}  certSANs: {{a: b}}\n",
    "a mapping that is a list": f"{WORKER}  sysctls: [a]\n",
    "a text that is too long to show": f"{WORKER}  certSANs: averyverylongtextindeed\n",
    "a quote that is not closed": 'machine: "abc\n',
    "a number that is a word": (
        f"{WORKER}  network:\n    interfaces:\n      - interface: eth0\n        mtu: abc\n"
    ),
}
IN_OTHER_WORDS = frozenset(
    {
        "address that is none",
        "bond and bridge",
        "cidr and addresses",
        "container that waits for itself",
        "partition in the middle without size",
        "ports that overlap",
        "runtime specification of a bad type",
    }
)
"""Refused by both, but the lab does not know all that Talos says."""


def bad_ones(minor: str) -> Iterator[tuple[str, str, bool]]:
    for name, text in UNREADABLE.items():
        yield name, text, False
    refused = [one for one in bad() if minor in one.refused]
    for one in refused[MINORS.index(minor) % EACH :: EACH]:
        yield one.name, one.case.text, one.case.strict


def good_ones(minor: str) -> Iterator[tuple[str, str]]:
    for contract in MINORS[: MINORS.index(minor) + 1]:
        for name, text in nodes("everything", contract).items():
            yield f"{contract} {name}", text.decode()
    for document in good_documents(minor)[MINORS.index(minor) :: FEWER]:
        yield str(document["kind"]), text_of([document])


def said(program: Path, path: Path, text: str, *, strict: bool = False) -> tuple[bool, str]:
    """Whether `talosctl` takes a configuration, and what it says besides warnings."""
    path.write_text(text, encoding="utf-8")
    command: list[str | Path] = [program, "validate", "-c", path, "--mode", "metal"]
    ended = subprocess.run(
        command + (["--strict"] if strict else []), capture_output=True, text=True, check=False
    )
    told = re.sub(r"(?m)^WARNING: .*\n", "", ended.stdout + ended.stderr)
    return ended.returncode == 0, told.removesuffix("\n")


@pytest.mark.parametrize("minor", MINORS)
def test_bad_configurations_are_refused_in_talos_words(
    minor: str, real_tool: RealTool, tmp_path: Path
) -> None:
    program = real_tool(f"talosctl@{TALOSCTL[minor]}")
    asked = list(bad_ones(minor))

    def compared(number: int) -> str:
        name, text, strict = asked[number]
        accepted, told = said(program, tmp_path / str(number), text, strict=strict)
        ours = judged(text.encode(), minor, "metal", strict=strict)
        if accepted or ours.accepted:
            return f"{name}: taken"
        is_same = ours.message == told or name in IN_OTHER_WORDS
        return "" if is_same else f"{name}: {told!r}, and we {ours.message!r}"

    with ThreadPoolExecutor(AT_ONCE) as pool:
        different = [one for one in pool.map(compared, range(len(asked))) if one]

    assert different == []
    assert len(asked) + len(list(good_ones(minor))) >= 60


@pytest.mark.parametrize("minor", MINORS)
def test_good_configurations_are_taken(minor: str, real_tool: RealTool, tmp_path: Path) -> None:
    program = real_tool(f"talosctl@{TALOSCTL[minor]}")
    asked = list(good_ones(minor))

    def refused(number: int) -> str:
        name, text = asked[number]
        accepted, _ = said(program, tmp_path / str(number), text)
        taken = judged(text.encode(), minor, "metal").accepted
        return "" if accepted and taken else f"{name}: {accepted} and we {taken}"

    with ThreadPoolExecutor(AT_ONCE) as pool:
        different = [one for one in pool.map(refused, range(len(asked))) if one]

    assert different == []
