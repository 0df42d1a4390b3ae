"""Values after they went through the configuration file."""

from __future__ import annotations

import pytest
from stockman_lab.pve.guest_config.keys import stored_in_container, stored_in_machine


@pytest.mark.parametrize(
    ("key", "value", "stored"),
    [
        ("boot", "", " "),
        ("name", " a ", "a"),
        ("onboot", "on", "1"),
        ("cores", "007", "7"),
        ("cpulimit", "1.50", "1.50"),
        ("description", "a\nb\n\n", "a\nb"),
        ("args", '"-no-reboot"', "-no-reboot"),
        ("tags", '"a"', '"a"'),
    ],
)
def test_a_machine_reads_back(key: str, value: str, stored: str) -> None:
    assert stored_in_machine(key, value) == stored


@pytest.mark.parametrize(
    ("key", "value", "stored"),
    [
        ("description", "a\nb", "a\nb\n"),
        ("description", "", ""),
        ("env", " A=1\0B=2", " A=1\0B=2"),
        ("hostname", "web", "web"),
        ("onboot", "0", "0"),
    ],
)
def test_a_container_reads_back(key: str, value: str, stored: str) -> None:
    assert stored_in_container(key, value) == stored
