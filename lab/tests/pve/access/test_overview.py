"""Permissions seen as a whole."""

from __future__ import annotations

import pytest
from stockman_lab.pve.access.identity import Caller
from stockman_lab.pve.access.overview import capabilities, effective_permissions, permissions_shown
from stockman_lab.pve.errors import ApiError

from lab.tests.pve.access.house import ANN, ANN_FULL_TOKEN, ANN_TOKEN, BOB, ROOT, authority


def test_every_path_with_privileges_is_shown() -> None:
    entries = ("/sdn/zones/z ann@pve PVESDNUser", "/pool/web ann@pve Look-")

    found = authority(*entries, pools={"web": {"/vms/100", "/vms/101"}})

    assert effective_permissions(found, ANN) == {
        "/pool/web": {"VM.Audit": 0},
        "/sdn/zones/z": {"SDN.Audit": 1, "SDN.Use": 1},
        "/vms/100": {"VM.Audit": 0},
        "/vms/101": {"VM.Audit": 0},
    }


def test_what_reaches_down_is_shown_on_the_paths_that_everybody_knows() -> None:
    found = authority("/ ann@pve Look", "/mapping/pci @night Look")

    assert list(effective_permissions(found, ANN)) == [
        "/",
        "/access",
        "/access/groups",
        "/mapping",
        "/mapping/pci",
        "/nodes",
        "/pool",
        "/sdn",
        "/storage",
        "/vms",
    ]


def test_one_path_is_shown_even_if_nothing_is_held_there() -> None:
    found = authority("/vms ann@pve Look")

    assert permissions_shown(found, ANN, None, "/vms/7") == {"/vms/7": {"VM.Audit": 1}}
    assert permissions_shown(found, ANN, None, "/nodes") == {"/nodes": {}}
    assert permissions_shown(found, ANN, None, "vms//7/") == {"vms//7/": {"VM.Audit": 1}}


def test_one_sees_oneself_and_ones_own_tokens() -> None:
    found = authority("/vms ann@pve Look")

    assert permissions_shown(found, ANN, None, None) == {"/vms": {"VM.Audit": 1}}
    assert permissions_shown(found, ANN, "ann@pve", None) == {"/vms": {"VM.Audit": 1}}
    assert permissions_shown(found, ANN, "ann@pve!full", None) == {"/vms": {"VM.Audit": 1}}
    assert permissions_shown(found, ANN, "ann@pve!narrow", None) == {}


@pytest.mark.parametrize(
    ("caller", "asked"),
    [(BOB, "ann@pve"), (ANN_FULL_TOKEN, "ann@pve"), (ANN_TOKEN, "ann@pve!full"), (BOB, "??")],
)
def test_others_are_for_auditors(caller: Caller, asked: str) -> None:
    found = authority("/vms ann@pve Look")

    with pytest.raises(ApiError, match=r"^Permission check failed \(/access, Sys\.Audit\)$"):
        permissions_shown(found, caller, asked, None)

    assert permissions_shown(found, ROOT, "ann@pve", None) == {"/vms": {"VM.Audit": 1}}


def test_a_name_that_nobody_can_have_holds_nothing() -> None:
    assert permissions_shown(authority(), ROOT, "??", None) == {}
    assert permissions_shown(authority(), ROOT, "??", "/vms") == {"/vms": {}}


def test_a_page_offers_by_area() -> None:
    found = authority(
        "/ ann@pve PVEAuditor", "/pool/web ann@pve PVEAdmin", "/vms ann@pve Administrator"
    )

    offered = capabilities(found, ANN)

    assert offered["dc"] == {"SDN.Audit": 1, "Sys.Audit": 1}
    assert offered["nodes"] == {"Sys.Audit": 1}
    assert offered["mapping"] == {"Mapping.Audit": 1}
    assert offered["access"] == {}
    assert "Datastore.Allocate" in offered["storage"]
    assert "Permissions.Modify" in offered["vms"]
    assert "Permissions.Modify" not in offered["storage"]
