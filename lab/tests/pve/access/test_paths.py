"""Paths of the access control list."""

from __future__ import annotations

import pytest
from stockman_lab.pve.access.paths import is_valid, normalised
from stockman_lab.pve.access.privileges import Profile


@pytest.mark.parametrize(
    ("written", "found"),
    [
        ("/", "/"),
        ("//", "/"),
        ("/vms/100", "/vms/100"),
        ("/vms//100/", "/vms/100"),
        ("vms/100", "/vms/100"),
        ("/storage/a_b-c.d", "/storage/a_b-c.d"),
        ("", None),
        ("0", None),
        ("/vms/1 0", None),
        ("/vms/ü", None),
        ("/vms/100\n", None),
        ("/a:b", None),
    ],
)
def test_a_path_is_written_in_one_way(written: str, found: str | None) -> None:
    assert normalised(written) == found


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/access",
        "/access/groups",
        "/access/groups/staff",
        "/access/realm",
        "/access/realm/pve",
        "/nodes",
        "/nodes/pve1",
        "/pool",
        "/pool/a",
        "/pool/a/b",
        "/pool/a/b/c",
        "/sdn",
        "/sdn/controllers/evpn-1",
        "/sdn/dns/one",
        "/sdn/ipams/pve",
        "/sdn/zones",
        "/sdn/zones/localnetwork",
        "/sdn/zones/localnetwork/vmbr0",
        "/sdn/zones/localnetwork/vmbr0/62",
        "/storage",
        "/storage/local-zfs",
        "/vms",
        "/vms/100",
        "/mapping",
        "/mapping/pci",
        "/mapping/pci/gpu0",
    ],
)
def test_a_path_that_may_have_entries(path: str) -> None:
    assert all(is_valid(path, profile) for profile in Profile)


@pytest.mark.parametrize(
    "path",
    [
        "/vm",
        "/vms/99",
        "/vms/0100",
        "/vms/abc",
        "/vms/100/x",
        "/access/users",
        "/access/groups/a/b",
        "/nodes/pve1/x",
        "/pool/a/b/c/d",
        "/sdn/vnets",
        "/sdn/dns/a-b",
        "/sdn/zones/z/v/0",
        "/sdn/zones/z/v/12345",
        "/storage/a/b",
        "/mapping/pci/gpu0/x",
    ],
)
def test_a_path_that_may_not(path: str) -> None:
    assert not any(is_valid(path, profile) for profile in Profile)


def test_fabrics_came_with_9() -> None:
    assert is_valid("/sdn/fabrics/one", Profile.PVE_9_1)
    assert not is_valid("/sdn/fabrics/one", Profile.PVE_8_4)
