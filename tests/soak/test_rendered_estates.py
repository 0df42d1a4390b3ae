"""Clusters of all presets follow what is rendered for them, with little and with everything on."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from lab.tests.kube.estates.living import living
from lab.tests.kube.estates.looking import answered, counted, look_again, troubles, versions
from lab.tests.kube.estates.written import Written
from stockman.config.language import Dialect
from stockman.config.load import load
from stockman.config.presets import render_preset
from stockman.config.resolve import resolve
from stockman.model.errors import Refused
from stockman.model.problem import Problems
from stockman.rendering.repository import render_repository
from tests.catalog.estates import MATERIALS
from tests.real.rendered.estates import BREADTHS, DIALECTS, PRESETS, Estate, keys_of

ESTATES = tuple(Estate(*one) for one in product(PRESETS, BREADTHS, DIALECTS))
_TWO_HOURS = 7200.0


@pytest.mark.parametrize("estate", ESTATES, ids=str)
def test_everything_that_is_rendered_comes_to_life_and_stays(
    estate: Estate, tmp_path: Path
) -> None:
    written = Written(estate.preset, keys_of(estate), estate.dialect)
    found = living(written, tmp_path)
    found.bootstrap()

    assert troubles(found) == []
    assert counted(found)["helmreleases"] == len(written.objects("HelmRelease"))
    revisions = found.revisions()
    for release in written.releases:
        place = f"{release['namespace']}/{release['name']}"
        assert revisions[place] == [(1, "superseded"), (2, "deployed")], place

    look_again(found, "first")
    before = versions(found)
    look_again(found, "once-more")
    assert answered(found, "once-more") == []
    found.world.advance(_TWO_HOURS)
    after = versions(found)
    assert {name: one for name, one in before.items() if after.get(name) != one} == {}
    assert found.revisions() == revisions
    assert troubles(found) == []


def test_a_preset_without_a_cluster_has_nothing_to_follow() -> None:
    texts = render_preset("home")
    desired = resolve(load({name: text.encode() for name, text in texts.items()}))
    dialect: Dialect = "classic"
    with pytest.raises(Refused) as why:
        render_repository(desired, MATERIALS, dialect, Problems())
    assert why.value.problem.code == "render.no-cluster"
