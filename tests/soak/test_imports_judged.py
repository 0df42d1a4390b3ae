"""Directories put together by chance: talhelper finds the differences that the report names."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.real.talhelper import give_secrets, made_by_talhelper
from tests.real.test_imports_judged import LINES, desired, different, documents, ours
from tests.talos.imports.adopting import from_talhelper
from tests.talos.imports.directories import written
from tests.talos.imports.generated_directories import directory
from tools.provide import Provider

COUNT = 40


@pytest.mark.parametrize("line", LINES)
def test_machines_differ_from_those_of_talhelper_in_what_the_report_says(
    line: str, tmp_path: Path
) -> None:
    talhelper = Provider().path("talhelper")
    judged = 0
    for number in range(COUNT):
        files = directory(random.Random(f"{line} {number}"), line)
        give_secrets(written(files, tmp_path))
        theirs = made_by_talhelper(talhelper, tmp_path)
        if theirs is None:  # what talhelper refuses cannot be compared
            continue
        judged += 1

        result = from_talhelper(files)

        assert [str(error) for error in result.problems.errors] == [], number
        wanted = desired(result)
        differents = {
            str(node.name): set(different(documents(theirs[node.name]), ours(wanted, node)))
            for node in wanted.nodes
        }
        assert differents == {
            name: {differ.what for differ in result.differs if name in differ.nodes}
            for name in differents
        }, number
    assert judged > COUNT // 2
