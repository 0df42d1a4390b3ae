"""Selectors of disks and links, evaluated."""

from __future__ import annotations

import pytest
from stockman_lab.talos.config.expressions import NotEvaluable, selects

DISK = {
    "disk": {
        "dev_path": "/dev/sda",
        "size": 200 << 30,
        "transport": "sata",
        "rotational": False,
        "serial": "SERIAL-1",
        "model": "QEMU HARDDISK",
        "symlinks": ["/dev/disk/by-id/x"],
    },
    "system_disk": False,
}


@pytest.mark.parametrize(
    ("expression", "is_so"),
    [
        ('disk.dev_path == "/dev/sda"', True),
        ("disk.size > 100u * GiB && !system_disk", True),
        ("disk.size <= 200u * GB", False),
        ('disk.transport == "nvme" || disk.serial == "SERIAL-1"', True),
        ('"/dev/disk/by-id/x" in disk.symlinks', True),
        ('disk.dev_path in ["/dev/sdb", "/dev/sdc"]', False),
        ('glob("QEMU*", disk.model)', True),
        ('disk.serial.startsWith("SER") && disk.serial.endsWith("-2")', False),
        ('disk.model.contains("HARD")', True),
        (r'disk.serial.matches("^SERIAL-\\d$")', True),
        ("!(disk.rotational || system_disk)", True),
        ('disk.symlinks[0] == "/dev/disk/by-id/x"', True),
        ("size(disk.symlinks) - 1 == 0 && 7 % 4 + 2 == 5", True),
        ("-1 < 0", True),
    ],
)
def test_expressions_about_a_disk(expression: str, is_so: bool) -> None:
    assert selects(expression, DISK) is is_so


def test_addresses_of_cards_are_compared_in_small_letters() -> None:
    link = {"link": {"permanent_addr": "BC:24:11:00:00:01"}}

    assert selects('mac(link.permanent_addr) == "bc:24:11:00:00:01"', link)


@pytest.mark.parametrize(
    "expression",
    ["disk.", "disk.colour == 1", "disk.size >", "(true", '"a', "true true", "nothing", "f(1)", ""],
)
def test_what_cannot_be_evaluated_is_told(expression: str) -> None:
    with pytest.raises(NotEvaluable):
        selects(expression, DISK)
