"""Answers of an agent, in the shapes of the QEMU guest agent."""

from __future__ import annotations

import json
from typing import Any

import pytest
from stockman_lab.guest.agent_calls import (
    AgentRefused,
    Ask,
    execute,
    execution,
    plain_answer,
)
from stockman_lab.guest.plain import PlainGuest

from lab.tests.guest.machines import GIB, NOW, Middle, image, machine

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
    answers: dict[str, Any] = {
        name: plain_answer(ask, name)
        for name in (
            "ping",
            "get-time",
            "get-timezone",
            "get-users",
            "get-memory-block-info",
            "fsfreeze-status",
            "shutdown",
        )
    }

    assert answers == {
        "ping": {},
        "get-time": int(LATER) * 1_000_000_000,
        "get-timezone": {"zone": "UTC", "offset": 0},
        "get-users": [],
        "get-memory-block-info": {"size": 128 << 20},
        "fsfreeze-status": "thawed",
        "shutdown": {},
    }


def test_the_agent_says_what_it_can_do(ask: Ask) -> None:
    found: Any = plain_answer(ask, "info")

    commands = {
        supported_command["name"]: supported_command
        for supported_command in found["supported_commands"]
    }
    assert commands["guest-exec"] == {
        "name": "guest-exec",
        "enabled": True,
        "success-response": True,
    }
    assert commands["guest-shutdown"]["success-response"] is False


def test_a_card_is_told_of_with_its_counters(ask: Ask) -> None:
    found: Any = plain_answer(ask, "network-get-interfaces")

    assert found[1]["hardware-address"] == "bc:24:11:aa:bb:00"
    assert found[1]["ip-addresses"][0] == {
        "ip-address": "127.66.1.100",
        "ip-address-type": "ipv4",
        "prefix": 24,
    }
    assert set(found[1]["statistics"]) == {
        f"{way}-{what}" for way in ("rx", "tx") for what in ("bytes", "packets", "errs", "dropped")
    }


def test_the_system_is_told_of(ask: Ask) -> None:
    found: Any = plain_answer(ask, "get-osinfo")

    assert set(found) >= {"id", "name", "pretty-name", "version-id", "kernel-release", "machine"}
    assert found["machine"] == "x86_64"


def test_memory_is_told_of_in_blocks(ask: Ask) -> None:
    found: Any = plain_answer(ask, "get-memory-blocks")

    assert len(found) == 16
    assert found[15] == {"phys-index": 15, "online": True, "can-offline": True}


def test_the_file_system_is_as_large_as_its_disk(ask: Ask) -> None:
    answer: Any = plain_answer(ask, "get-fsinfo")

    (found,) = answer
    assert found["mountpoint"] == "/"
    assert found["total-bytes-privileged"] == 32 * GIB - (1 << 20)
    assert found["used-bytes"] < found["total-bytes"] < found["total-bytes-privileged"]
    assert found["disk"][0]["bus-type"] == "scsi"


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


def test_trimming_tells_how_much_was_freed(ask: Ask) -> None:
    assert plain_answer(ask, "fstrim") == {
        "paths": [{"path": "/", "minimum": 0, "trimmed": 32 * GIB - (1536 << 20)}]
    }


@pytest.mark.parametrize(
    ("command", "arguments", "why"),
    [
        ("file-open", {"path": "/etc/hostname", "mode": "x"}, "invalid file open mode 'x'"),
        ("file-read", {"handle": 5}, "handle '5' has not been found"),
        ("file-close", {"handle": 5}, "handle '5' has not been found"),
        ("exec-status", {"pid": 5}, "PID ld does not exist"),
    ],
)
def test_wrong_arguments_are_refused(
    ask: Ask, command: str, arguments: dict[str, object], why: str
) -> None:
    with pytest.raises(Exception, match=why):
        ask(command, arguments)


def done(ask: Ask, *command: str, given: str | None = None) -> dict[str, object]:
    started: Any = execute(ask, list(command), given)
    return execution(ask, started["pid"])


@pytest.mark.parametrize(
    ("command", "output"),
    [
        (("hostname",), "localhost\n"),
        (("/bin/echo", "a", "b"), "a b\n"),
        (("cat", "/etc/hostname"), "localhost\n"),
        (("uname", "-m"), "x86_64\n"),
        (("bash", "-c", "echo one; echo 'two  three'"), "one\ntwo  three\n"),
    ],
)
def test_programs_run(ask: Ask, command: tuple[str, ...], output: str) -> None:
    assert done(ask, *command) == {
        "exited": 1,
        "exitcode": 0,
        "out-data": output,
        "out-truncated": 0,
    }


def test_programs_fail(ask: Ask) -> None:
    assert done(ask, "false") == {"exited": 1, "exitcode": 1}
    assert done(ask, "cat", "/nowhere")["err-data"] == "cat: /nowhere: No such file or directory\n"
    assert done(ask, "sh", "-c", "nonsense --now") == {
        "exited": 1,
        "exitcode": 127,
        "err-data": "sh: 1: nonsense: not found\n",
        "err-truncated": 0,
    }


def test_a_program_is_given_its_input(ask: Ask) -> None:
    assert done(ask, "cat", given="typed")["out-data"] == "typed"
    assert done(ask, "sh", given="echo typed")["out-data"] == "typed\n"


def test_a_program_that_does_not_exist_is_not_started(ask: Ask) -> None:
    with pytest.raises(AgentRefused) as refused:
        execute(ask, ["nonsense"])

    assert str(refused.value) == (
        "Agent error: Failed to execute child process “nonsense” (No such file or directory)"
    )


def test_the_end_of_a_program_is_told_once(ask: Ask) -> None:
    started: Any = execute(ask, ["true"])
    execution(ask, started["pid"])

    with pytest.raises(AgentRefused, match="does not exist"):
        execution(ask, started["pid"])
