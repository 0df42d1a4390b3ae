"""Volumes of containers grow, move, become templates and are cloned."""

from __future__ import annotations

import pytest

from lab.tests.pve.endpoints.containers import (
    CT,
    one_container,
    refused,
    running_container,
    values,
)
from lab.tests.pve.endpoints.people import somebody

NIC = "name=eth0,bridge=vmbr0,ip=dhcp"
MODIFIED = "detected modified configuration - file changed by other user? Try again."


@pytest.mark.parametrize(("size", "expected"), [("+2G", "10G"), ("12G", "12G"), ("8.5G", "8704M")])
def test_a_root_grows(size: str, expected: str) -> None:
    asked = running_container()

    assert asked.done(asked.put(f"{CT}/resize", disk="rootfs", size=size)) == "OK"

    assert values(asked)["rootfs"] == f"local-zfs:subvol-200-disk-0,size={expected}"


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"disk": "rootfs", "size": "4G"}, "unable to shrink disk size"),
        ({"disk": "rootfs", "size": "8G"}, "disk is already at specified size"),
        ({"disk": "rootfs", "size": "9G", "digest": "0" * 40}, MODIFIED),
    ],
)
def test_what_does_not_grow_is_refused(params: dict[str, object], message: str) -> None:
    error = refused(one_container(), "PUT", f"{CT}/resize", **params)

    assert (error.status, error.message) == (500, message)


def test_growing_needs_a_right_on_the_storage() -> None:
    asked = one_container()
    user = somebody(asked, "/vms/200", "VM.Config.Disk", "VM.Config.Options")

    error = refused(user, "PUT", f"{CT}/resize", disk="rootfs", size="+1G")

    expected = "Permission check failed (/storage/local-zfs, Datastore.AllocateSpace)"
    assert (error.status, error.message) == (403, expected)
