"""Permissions seen as a whole."""

from __future__ import annotations

from stockman_lab.pve.access.overview import capabilities, permissions_shown

from lab.tests.pve.access.house import ANN, ROOT, authority


def test_one_sees_oneself_and_ones_own_tokens() -> None:
    found = authority("/vms ann@pve Look")

    assert permissions_shown(found, ANN, None, None) == {"/vms": {"VM.Audit": 1}}
    assert permissions_shown(found, ANN, "ann@pve", None) == {"/vms": {"VM.Audit": 1}}
    assert permissions_shown(found, ANN, "ann@pve!full", None) == {"/vms": {"VM.Audit": 1}}
    assert permissions_shown(found, ANN, "ann@pve!narrow", None) == {}


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
