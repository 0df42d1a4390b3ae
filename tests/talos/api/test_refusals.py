"""Codes and words of Talos become errors that callers can act on."""

import pytest

from stockman.model.errors import (
    Conflict,
    Denied,
    Locked,
    NotFound,
    Rejected,
    StockmanError,
    Uncertain,
    Unreachable,
    Unsupported,
)
from stockman.talos.api.codes import Code
from stockman.talos.api.refusals import Refusal, clean, refusal
from stockman.talos.api.wire import Request
from tests.talos.api.scripted import NODE

READ = Request(method="machine.MachineService/Version", node=NODE)
CHANGE = Request(method="machine.MachineService/Reboot", node=NODE, is_read=False)
DIALING = 'connection error: desc = "transport: Error while dialing: dial tcp: i/o timeout"'


@pytest.mark.parametrize(
    ("code", "told", "read", "change"),
    [
        (Code.CANCELLED, "canceled", Unreachable, Uncertain),
        (Code.UNKNOWN, "no previous boot entry", Rejected, Rejected),
        (Code.UNKNOWN, "failed to acquire upgrade mutex: x", Locked, Locked),
        (Code.INVALID_ARGUMENT, "unknown keys", Rejected, Rejected),
        (Code.DEADLINE_EXCEEDED, "context deadline exceeded", Unreachable, Uncertain),
        (Code.NOT_FOUND, "not there", NotFound, NotFound),
        (Code.ALREADY_EXISTS, "not empty", Conflict, Conflict),
        (Code.PERMISSION_DENIED, "not authorized", Denied, Denied),
        (Code.PERMISSION_DENIED, 'resource type "X" is not supported', Unsupported, Unsupported),
        (Code.RESOURCE_EXHAUSTED, "too large", Rejected, Rejected),
        (Code.FAILED_PRECONDITION, "time is not in sync yet", Conflict, Conflict),
        (Code.FAILED_PRECONDITION, "another upgrade is already in progress", Locked, Locked),
        (Code.ABORTED, "changed meanwhile", Conflict, Conflict),
        (Code.UNIMPLEMENTED, "unknown service", Unsupported, Unsupported),
        (Code.INTERNAL, "broken", Rejected, Uncertain),
        (Code.UNAVAILABLE, "error reading from server: EOF", Unreachable, Uncertain),
        (Code.UNAVAILABLE, DIALING, Unreachable, Unreachable),
        (Code.DATA_LOSS, "lost", Rejected, Rejected),
        (Code.UNAUTHENTICATED, "who", Denied, Denied),
        (99, "what", Rejected, Rejected),
    ],
)
def test_a_code_means_an_error(
    code: int, told: str, read: type[StockmanError], change: type[StockmanError]
) -> None:
    refused = Refusal(code=code, message=told)

    assert type(refusal(READ, refused)) is read
    assert type(refusal(CHANGE, refused)) is change
    assert told in refusal(READ, refused).problem.why


@pytest.mark.parametrize("code", list(Code)[1:])
def test_a_refusal_without_words_has_a_reason_all_the_same(code: Code) -> None:
    assert refusal(READ, Refusal(code=code)).problem.why


def test_what_a_machine_says_is_fit_for_a_terminal() -> None:
    assert clean("a\x1b[31m\nb" + "x" * 1000, ("b",))[:8] == "a [31m *"


def test_secrets_of_a_request_are_not_repeated() -> None:
    asked = Request(method=CHANGE.method, node=NODE, message=b"s3cr3t", secrets=("s3cr3t",))

    problem = refusal(asked, Refusal(code=Code.UNKNOWN, message="bad s3cr3t")).problem

    assert "s3cr3t" not in f"{problem} {asked!r}"
