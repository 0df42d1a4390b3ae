"""Talos' own verdict on configurations: its library, and `talosctl validate`."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from stockman.model.problem import Problems
from stockman.talos.validation.report import RuntimeMode
from stockman.talos.validation.validate import load_configuration, validate

TALOSCTL = {"1.11": "1.11.5", "1.12": "1.12.1", "1.13": "1.13.9", "1.14": "1.14.1"}
LIBRARY = {**TALOSCTL, "1.12": "1.12.6"}
"""The tables of 1.12 are those of the newest patch release that can be had, not the program's."""


class Case(NamedTuple):
    """A configuration, and how it is looked at."""

    text: str
    mode: RuntimeMode = RuntimeMode.METAL
    strict: bool = False


class Verdict(NamedTuple):
    """Whether a configuration is taken, how many warnings are told, and what is said."""

    accepted: bool
    warnings: int
    said: str


def ours(case: Case, minor: str) -> Verdict:
    problems = our_problems(case, minor)
    said = "\n".join(f"{problem.code} {problem.where}: {problem.what}" for problem in problems)
    return Verdict(not problems.errors, len(problems.warnings), said)


def our_problems(case: Case, minor: str, file: str = "machine.yaml") -> Problems:
    problems = Problems()
    documents = load_configuration(file, case.text, minor, problems)
    if documents is not None:
        problems.extend(validate(documents, minor, case.mode, strict=case.strict))
    return problems


def by_library(program: Path, cases: Sequence[Case]) -> list[Verdict]:
    lines = [
        json.dumps({"config": case_.text, "mode": case_.mode.value, "strict": case_.strict})
        for case_ in cases
    ]
    ended = subprocess.run(
        [program, "judge"],
        input="\n".join([*lines, ""]),
        capture_output=True,
        text=True,
        check=True,
    )
    answers = [json.loads(line) for line in ended.stdout.splitlines()]
    return [
        Verdict("error" not in answer, len(answer.get("warnings", [])), answer.get("error", ""))
        for answer in answers
    ]


def by_talosctl(program: Path, case: Case, directory: Path) -> Verdict:
    path = directory / "machine.yaml"
    path.write_text(case.text, encoding="utf-8")
    command: list[str | Path] = [program, "validate", "-c", path, "--mode", case.mode.value]
    ended = subprocess.run(
        command + (["--strict"] if case.strict else []),
        capture_output=True,
        text=True,
        check=False,
    )
    stdout = ended.stdout + ended.stderr
    accepted = ended.returncode == 0 and f"is valid for {case.mode.value} mode" in stdout
    return Verdict(accepted, stdout.count("WARNING"), stdout)
