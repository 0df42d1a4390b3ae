"""proxmoxer, which people script Proxmox VE with, finds in the lab what the schema promises."""

from __future__ import annotations

from pathlib import Path

import pytest
from stockman_lab.pve.schema.schema import PROFILES

from tests.real.proxmoxer_script import Script, whole
from tests.real.served import served

OPERATIONS = 100


@pytest.mark.parametrize("profile", PROFILES)
def test_a_hundred_operations_answer_as_promised(tmp_path: Path, profile: str) -> None:
    with served(tmp_path, profile) as lab:
        script = Script(lab, profile)

        whole(script, nine=profile.startswith("9"))

        assert script.wrong == []
        assert script.count >= OPERATIONS


@pytest.mark.parametrize("profile", PROFILES)
def test_nothing_is_left_of_a_script_that_cleans_up(tmp_path: Path, profile: str) -> None:
    with served(tmp_path, profile) as lab:
        state = lab.world.clusters["meadow"].state
        users, storages = set(state.access.users), set(state.storages)

        whole(Script(lab, profile), nine=profile.startswith("9"))

        assert (state.guests, set(state.access.users), set(state.storages)) == ({}, users, storages)
        assert [volume.id for volume in state.volumes.values() if volume.content == "images"] == []
