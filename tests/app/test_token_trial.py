"""Tokens are tried over the wire, with their own secret."""

from __future__ import annotations

import asyncio

import pytest
from stockman_lab.testing.thread import ProxmoxLab

from stockman.adapters.proxmox.endpoint import Endpoints
from stockman.adapters.system import SystemTimekeeper
from stockman.app.proxmox import HttpTokenTest
from stockman.model.errors import Denied
from stockman.model.secret import Secret
from stockman.ports.environment import Trust


def tried(lab: ProxmoxLab) -> HttpTokenTest:
    endpoints = Endpoints(urls=(lab.endpoint,), trust=Trust(ca=lab.ca.read_bytes()))
    return HttpTokenTest({"pve": endpoints}, SystemTimekeeper())


def test_a_token_tells_what_it_may_do(proxmox_lab: ProxmoxLab) -> None:
    secret = Secret(proxmox_lab.token_secret)

    found = asyncio.run(
        tried(proxmox_lab).privileges("pve", proxmox_lab.token_id, secret, ("/", "/vms"))
    )

    assert "VM.Allocate" in found["/vms"]
    assert set(found) == {"/", "/vms"}


def test_a_token_with_another_secret_is_turned_away(proxmox_lab: ProxmoxLab) -> None:
    wrong = Secret("5f0a9c1e-0000-4000-8000-00000000002a")

    with pytest.raises(Denied):
        asyncio.run(tried(proxmox_lab).privileges("pve", proxmox_lab.token_id, wrong, ("/",)))
