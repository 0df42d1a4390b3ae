"""Answers of an agent, in the shapes of the QEMU guest agent."""

from __future__ import annotations

import json
from typing import Any

import pytest
from stockman_lab.guest.system import Ask, plain_answer
from stockman_lab.guest.systems import PlainGuest

from lab.tests.guest.machines import NOW, Middle, image, machine

LATER = NOW + 100


@pytest.fixture
def guest() -> PlainGuest:
    plain_guest = PlainGuest()
    plain_guest.booted(machine(disk=image()), NOW, Middle())
    return plain_guest


@pytest.fixture
def ask(guest: PlainGuest) -> Ask:
    return lambda command, arguments: guest.ask(command, arguments, LATER)


def test_plain_questions_are_answered(ask: Ask) -> None:
    commands = ("ping", "get-time", "get-host-name", "shutdown")

    assert {name: plain_answer(ask, name) for name in commands} == {
        "ping": {},
        "get-time": int(LATER) * 1_000_000_000,
        "get-host-name": {"host-name": "localhost"},
        "shutdown": {},
    }


def test_a_card_is_told_of_with_its_counters(ask: Ask) -> None:
    value: Any = plain_answer(ask, "network-get-interfaces")

    assert value[1]["hardware-address"] == "bc:24:11:aa:bb:00"
    assert value[1]["ip-addresses"][0] == {
        "ip-address": "127.66.1.100",
        "ip-address-type": "ipv4",
        "prefix": 24,
    }
    assert set(value[1]["statistics"]) == {
        f"{text}-{what}"
        for text in ("rx", "tx")
        for what in ("bytes", "packets", "errs", "dropped")
    }


def test_the_system_is_told_of(ask: Ask) -> None:
    value: Any = plain_answer(ask, "get-osinfo")

    assert set(value) >= {"id", "name", "pretty-name", "version-id", "kernel-release", "machine"}
    assert value["machine"] == "x86_64"


def test_every_answer_is_json(ask: Ask, guest: PlainGuest) -> None:
    info: Any = plain_answer(ask, "info")
    names = [
        supported_command["name"].removeprefix("guest-")
        for supported_command in info["supported_commands"]
    ]

    for name in names:
        assert json.loads(json.dumps(plain_answer(ask, name))) is not None
    assert json.loads(json.dumps(guest.saved())) == guest.saved()


def test_an_unknown_command_is_answered_with_an_error(ask: Ask) -> None:
    assert plain_answer(ask, "get-moon") == {
        "error": {
            "class": "CommandNotFound",
            "desc": "The command guest-get-moon has not been found",
        }
    }
