"""Every talosctl gets every kind of resources, in every form."""

from __future__ import annotations

from pathlib import Path

import pytest
from stockman_lab.talos.cosi.registry import claimed
from stockman_lab.talos.cosi.tables import definitions

from lab.tests.talos.cosi.handmade import handmade_land
from tests.real.talos_served import served_land
from tests.real.talosctl import FORMS, VERSIONS, Talosctl, judged
from tools.provide import Provider

FIRST = "127.53.0.1"


@pytest.mark.parametrize("number", [0, 2])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("version", VERSIONS)
def test_all_kinds_are_got(version: str, form: str, number: int, tmp_path: Path) -> None:
    """Of a machine of the control plane, and of a worker."""
    program = Provider().path(f"talosctl@{version}")
    minor = version.rpartition(".")[0]
    land = handmade_land(minor, FIRST)
    machine = land.machines[number]
    chosen = [(name, form) for name in claimed() if name.lower() in definitions(minor)]
    with served_land(land, tmp_path):
        talosctl = Talosctl(program, tmp_path, machine.address)

        assert judged(talosctl, handmade_land(minor, FIRST).machines[number], chosen) == []
