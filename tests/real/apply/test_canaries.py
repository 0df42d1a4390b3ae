"""Secrets of a whole run stand nowhere but where they belong."""

from __future__ import annotations

import pytest

from tests.real.apply.canaries import canaries, places, written
from tests.real.apply.herd import Made


@pytest.mark.parametrize("cluster", ["1.13"])
def test_no_secret_is_written_down(cluster: str, made: Made) -> None:
    found = canaries(made)
    searched = places(made)
    key = made.scene.directory / "age.key"
    config = made.talosconfig.read_text()

    assert len(found) > 14
    assert min(map(len, found.values())) > 15
    assert written(found, searched) == []
    assert all(searched.values())
    assert any("push" in one for one in made.words)
    assert written(found, {"where it belongs": key.read_text()}) == ["age.key in where it belongs"]
    assert written(found, {"there": config}) == ["key in talosconfig in there"]
