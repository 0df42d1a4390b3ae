"""A hundred stories by chance; `make soak` tells ten thousand."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.acceptance.seeds import story

SEEDS = range(1, 101)
AT_ONCE = 10


@pytest.mark.parametrize("first", SEEDS[::AT_ONCE])
def test_whatever_goes_wrong_the_last_run_ends_well_or_is_refused(
    first: int, tmp_path: Path
) -> None:
    for seed in range(first, first + AT_ONCE):
        told = story(seed, tmp_path / str(seed))

        assert told.flaws == [], f"{told.told}; again: {told.replay}"
