"""What the agent in a virtual machine says."""

from __future__ import annotations

import pytest
from stockman_lab.core.faults import Effect, Fault, Point
from stockman_lab.pve.errors import ApiError

from lab.tests.machines import QEMU, create, create_linux, replied, start, user
from lab.tests.worlds import door, small_world

AGENT = f"{QEMU}/100/agent"


def test_interfaces_have_addresses_of_their_networks() -> None:
    api = door()
    create_linux(api, net0="virtio=BC:24:11:00:00:01,bridge=vmbr0")
    start(api)

    reply = replied(api, "GET", f"{AGENT}/network-get-interfaces")

    card = reply["result"][1]
    assert card["hardware-address"] == "bc:24:11:00:00:01"
    assert card["ip-addresses"][0] == {
        "ip-address": "127.66.1.100",
        "ip-address-type": "ipv4",
        "prefix": 16,
    }


def test_a_static_address_of_the_cloud_init_drive_is_used() -> None:
    api = door()
    create_linux(api, ide2="local-zfs:cloudinit", ipconfig0="ip=127.66.9.9/16,gw=127.66.0.1")
    start(api)

    reply = api.get(f"{AGENT}/network-get-interfaces")

    assert reply["result"][1]["ip-addresses"][0]["ip-address"] == "127.66.9.9"
    assert api.get(f"{AGENT}/get-host-name") == {"result": {"host-name": "vm100"}}


def test_no_agent_no_power_and_no_answer_have_texts_of_their_own() -> None:
    api = door()
    create(api, 100)
    create_linux(api, 101)
    create_linux(api, 102)
    api.post(f"{QEMU}/102/status/start")
    api.world.advance(5)

    for vmid, text in (
        (100, "No QEMU guest agent configured"),
        (101, "VM 101 is not running"),
        (102, "QEMU guest agent is not running"),
    ):
        with pytest.raises(ApiError) as caught:
            api.get(f"{QEMU}/{vmid}/agent/get-osinfo")
        assert (caught.value.status, caught.value.message) == (500, text)


def test_the_agent_answers_some_seconds_after_the_start() -> None:
    api = door()
    create_linux(api)
    api.done(api.post(f"{QEMU}/100/status/start"))

    api.world.advance(40)

    reply = api.get(f"{AGENT}/get-osinfo")
    assert reply["result"]["id"] == "stockman-lab"


def test_an_agent_that_is_told_to_shut_down_takes_the_machine_along() -> None:
    api = door()
    guest = create_linux(api)
    start(api)

    api.post(f"{AGENT}/shutdown")
    at_once = guest.is_running
    api.world.settle()

    assert at_once
    assert not guest.is_running


def test_faults_silence_the_agent() -> None:
    api = door()
    create_linux(api)
    start(api)
    api.world.faults.add(Fault(Point.AGENT, Effect.FAIL, {"command": "ping"}))

    with pytest.raises(ApiError, match="QEMU guest agent is not running"):
        api.post(f"{AGENT}/ping")

    assert api.post(f"{AGENT}/ping") == {"result": {}}


def test_privileges_differ_between_eight_and_nine() -> None:
    for profile, text in (
        ("8.4", "/vms/100, VM.Monitor"),
        ("9.1", "/vms/100, VM.GuestAgent.Audit|VM.GuestAgent.Unrestricted"),
    ):
        api = door(small_world(profile))
        create_linux(api)
        somebody = user(api, "VM.Audit")
        with pytest.raises(ApiError) as caught:
            somebody.get(f"{AGENT}/get-osinfo")
        assert caught.value.message == f"Permission check failed ({text})"
