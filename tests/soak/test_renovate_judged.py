"""Renovate finds the versions of the TOML layout too."""

from __future__ import annotations

from pathlib import Path

from tests.catalog.estates import rendered
from tests.catalog.everything import EVERYTHING
from tests.real.renovate import committed, extracted, pinned, written
from tests.real.test_renovate_judged import KUBERNETES, TALOS
from tools.provide import Provider


def test_every_version_of_the_toml_layout_is_found(tmp_path: Path) -> None:
    found = rendered(EVERYTHING, preset="fifteen-node", dialect="toml")
    written(found, tmp_path)
    (tmp_path / "cluster.toml").write_text('[talos]\nversion = "1.11.5"\n')
    committed(tmp_path)

    seen = extracted(Provider().path("renovate"), tmp_path)

    missing = {path: pins - seen.get(path, set()) for path, pins in pinned(found).items()}
    assert {path: pins for path, pins in missing.items() if pins} == {}
    assert seen["cluster.toml"] == {(TALOS, "1.11.5")}
    assert seen["talos/topf.yaml"] == {(TALOS, "v1.11.5"), (KUBERNETES, "v1.32.13")}
