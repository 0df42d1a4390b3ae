"""Checks that look at more than one path."""

from __future__ import annotations

import pytest
from stockman_lab.pve.access.checks import check_bridge, check_guest, may_use_bridge
from stockman_lab.pve.errors import ApiError

from lab.tests.pve.access.house import ANN, authority


def test_a_new_guest_may_come_by_the_pool_that_it_joins() -> None:
    found = authority("/pool/web ann@pve PVEVMAdmin")

    check_guest(found, ANN, 100, "VM.Allocate", pool="web")

    with pytest.raises(ApiError, match=r"^Permission check failed \(/vms/100, VM\.Allocate\)$"):
        check_guest(found, ANN, 100, "VM.Allocate")


def test_without_rights_on_the_pool_the_guest_itself_counts() -> None:
    found = authority("/vms ann@pve PVEVMAdmin")

    check_guest(found, ANN, 100, "VM.Allocate", pool="web")

    with pytest.raises(ApiError, match=r"\(/vms/100, Sys\.Audit\)"):
        check_guest(found, ANN, 100, "Sys.Audit", pool="web")


def test_a_bridge_is_open_to_who_may_use_one_of_its_vlans() -> None:
    found = authority("/sdn/zones/localnetwork/vmbr0/62 ann@pve PVESDNUser")

    check_bridge(found, ANN, "localnetwork", "vmbr0", "SDN.Use", "SDN.Audit")

    assert not may_use_bridge(found, ANN, "localnetwork", "vmbr1", "SDN.Use")
    expected = r"\(/sdn/zones/localnetwork/vmbr1, SDN\.Use\|SDN\.Audit\)$"
    with pytest.raises(ApiError, match=expected):
        check_bridge(found, ANN, "localnetwork", "vmbr1", "SDN.Use", "SDN.Audit")


def test_a_bridge_is_open_to_who_may_use_the_bridge_itself() -> None:
    found = authority("/sdn/zones/localnetwork ann@pve PVESDNUser")

    assert may_use_bridge(found, ANN, "localnetwork", "vmbr0", "SDN.Use")
