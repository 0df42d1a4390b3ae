"""All of the bpg provider's own acceptance tests pass on the lab, but those that it names."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.real.acceptance import EXCLUDED, PACKAGES, acceptance
from tools.provide import Provider


@pytest.mark.parametrize("package", PACKAGES)
def test_they_pass(tmp_path: Path, package: str) -> None:
    provider = Provider()
    program = provider.path(f"bpg-acceptance@{package}")
    with acceptance(tmp_path, provider.path) as tests:
        names = tests.names(program)
        found = tests.run(program, names)

    assert sorted(found.passed) == sorted(names), found.output[-4000:]
    assert found.failed == found.skipped == []


def test_every_excluded_test_has_a_reason() -> None:
    assert all(EXCLUDED.values())
