"""The disk to install on, as an expression."""

from __future__ import annotations

import pytest

from stockman.talos.migration.system import disk_expression

END = 'disk.transport != "" && !disk.readonly && !disk.cdrom'


@pytest.mark.parametrize(
    ("install", "expression"),
    [
        ({"disk": "/dev/sda"}, 'disk.dev_path == "/dev/sda"'),
        ({"disk": "/dev/disk/by-id/x"}, '"/dev/disk/by-id/x" in disk.symlinks'),
        ({"diskSelector": {"serial": "S1"}}, 'disk.serial == "S1"'),
        ({"diskSelector": {"serial": "S*"}}, f'glob("S*", disk.serial) && {END}'),
        ({"diskSelector": {"size": ">= 1GiB"}}, f"disk.size >= 1073741824u && {END}"),
        ({"diskSelector": {"size": "4GB"}}, f"disk.size == 4000000000u && {END}"),
        (
            {"diskSelector": {"type": "ssd", "busPath": "/pci*"}},
            'disk.transport != "" && !disk.rotational && glob("/pci*", disk.bus_path) && '
            + END.partition(" && ")[2],
        ),
        ({"image": "x"}, None),
    ],
)
def test_a_disk_is_named_by_what_talos_sees_of_it(
    install: dict[str, object], expression: str | None
) -> None:
    assert disk_expression(install) == expression
