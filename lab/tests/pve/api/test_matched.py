"""Faults can be for requests of somebody, to a host, about a guest."""

from __future__ import annotations

import pytest
from stockman_lab.pve.api.api import facts_of
from stockman_lab.pve.api.request import ApiRequest

from lab.tests.worlds import door


@pytest.mark.parametrize(
    ("path", "params", "node", "vmid"),
    [
        ("/nodes/pve2/qemu/100", {}, "pve2", "100"),
        ("/nodes/pve2/lxc/200/status/start", {}, "pve2", "200"),
        ("/nodes/pve1/qemu", {"vmid": "101"}, "pve1", "101"),
        ("/nodes/pve1/storage/local", {}, "pve1", ""),
        ("/cluster/resources", {}, "", ""),
    ],
)
def test_the_guest_and_the_node_of_a_request_are_known(
    path: str, params: dict[str, object], node: str, vmid: str
) -> None:
    facts = facts_of(door().host, ApiRequest("POST", path, params))
    assert (facts["node"], facts["vmid"], facts["path"]) == (node, vmid, path)
    assert (facts["host"], facts["method"]) == ("pve1", "POST")


@pytest.mark.parametrize(
    ("header", "user"),
    [
        ({"authorization": "PVEAPIToken=ann@pve!ci=secret"}, "ann@pve!ci"),
        ({"cookie": "PVEAuthCookie=PVE:bob@pam:66554433::signature"}, "bob@pam"),
        ({"cookie": "PVEAuthCookie=wool"}, ""),
        ({}, ""),
    ],
)
def test_who_a_request_claims_to_come_from_is_known(header: dict[str, str], user: str) -> None:
    request = ApiRequest("GET", "/version", headers=header)
    assert facts_of(door().host, request)["user"] == user


def test_who_is_known_already_needs_no_header() -> None:
    asked = door()
    request = ApiRequest("GET", "/version", caller=asked.caller)
    assert facts_of(asked.host, request)["user"] == "root@pam"
