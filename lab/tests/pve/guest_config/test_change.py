"""Requests that contradict themselves."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from stockman_lab.pve.errors import ApiError
from stockman_lab.pve.guest_config.change import read_container_change, read_machine_change


@pytest.mark.parametrize(
    ("parameters", "errors"),
    [
        ({"scsi1": "x", "delete": "scsi1"},
         {"delete": "you can't use '-scsi1' and -delete scsi1' at the same time"}),
        ({"scsi1": "x", "revert": "scsi1"},
         {"delete": "you can't use '-scsi1' and -revert scsi1' at the same time"}),
        ({"delete": "scsi1", "revert": "scsi1"},
         {"revert": "you can't use '-delete scsi1' and -revert scsi1' at the same time"}),
        ({"delete": "wheels"}, {"delete": "unknown option 'wheels'"}),
        ({"delete": "net32"}, {"delete": "unknown option 'net32'"}),
        ({"revert": "wheels"}, {"revert": "unknown option 'wheels'"}),
        ({"ide2": "none,media=cdrom", "delete": "cdrom"},
         {"delete": "you can't use '-ide2' and -delete ide2' at the same time"}),
    ],
)  # fmt: skip
def test_a_machine_cannot_have_a_key_set_and_gone(
    parameters: Mapping[str, str], errors: Mapping[str, str]
) -> None:
    with pytest.raises(ApiError) as refused:
        read_machine_change(parameters)

    assert (refused.value.status, refused.value.errors) == (400, errors)
    assert refused.value.message == "Parameter verification failed."


@pytest.mark.parametrize(
    ("parameters", "errors"),
    [
        ({"mp0": "x", "delete": "mp0"},
         {"delete": "you can't use '-mp0' and -delete mp0' at the same time"}),
        ({"mp0": "x", "revert": "mp0"},
         {"revert": "you can't use '-mp0' and '-revert mp0' at the same time"}),
        ({"delete": "mp0", "revert": "mp0"},
         {"delete": "you can't use '-delete mp0' and '-revert mp0' at the same time"}),
        ({"delete": "scsi0"}, {"delete": "unknown option 'scsi0'"}),
        ({"revert": "scsi0"}, {"revert": "unknown option 'scsi0'"}),
    ],
)  # fmt: skip
def test_a_container_cannot_have_a_key_set_and_gone(
    parameters: Mapping[str, str], errors: Mapping[str, str]
) -> None:
    with pytest.raises(ApiError) as refused:
        read_container_change(parameters)

    assert (refused.value.status, refused.value.errors) == (400, errors)
