"""Paths of the access control list."""

from __future__ import annotations

import pytest
from stockman_lab.pve.access.paths import is_valid
from stockman_lab.pve.access.privileges import Profile


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
