"""Every preset, with little and with everything on, in both layouts, judged by real programs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.real.rendered.estates import ESTATES, Estate, repository
from tests.real.rendered.judging import SKIPPED, Judges, judges
from tools.provide import Provider


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Judges]:
    with judges(tmp_path_factory.mktemp("judges"), Provider().path) as found:
        yield found


@pytest.mark.parametrize("estate", ESTATES, ids=str)
def test_every_object_of_a_repository_is_built_valid_and_accepted(
    bench: Judges, tmp_path: Path, estate: Estate
) -> None:
    verdict = bench.judge(repository(estate), tmp_path)

    assert verdict.invalid == []
    assert verdict.refused == []
    assert verdict.skipped <= SKIPPED.keys()
    assert verdict.apps >= len(repository(estate).apps)
