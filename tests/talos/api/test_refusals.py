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
from stockman.model.secret import clean_text
from stockman.talos.api.errors import CallFailure, call_error
from stockman.talos.api.transport import GrpcCode, TalosRequest
from tests.talos.api.scripted import NODE

READ = TalosRequest(method="machine.MachineService/Version", node=NODE)
CHANGE = TalosRequest(method="machine.MachineService/Reboot", node=NODE, is_read=False)
DIALING = 'connection error: desc = "transport: Error while dialing: dial tcp: i/o timeout"'


@pytest.mark.parametrize(
    ("code", "told", "read", "change"),
    [
        (GrpcCode.CANCELLED, "canceled", Unreachable, Uncertain),
        (GrpcCode.UNKNOWN, "no previous boot entry", Rejected, Rejected),
        (GrpcCode.UNKNOWN, "failed to acquire upgrade mutex: x", Locked, Locked),
        (GrpcCode.INVALID_ARGUMENT, "unknown keys", Rejected, Rejected),
        (GrpcCode.DEADLINE_EXCEEDED, "context deadline exceeded", Unreachable, Uncertain),
        (GrpcCode.NOT_FOUND, "not there", NotFound, NotFound),
        (GrpcCode.ALREADY_EXISTS, "not empty", Conflict, Conflict),
        (GrpcCode.PERMISSION_DENIED, "not authorized", Denied, Denied),
        (
            GrpcCode.PERMISSION_DENIED,
            'resource type "X" is not supported',
            Unsupported,
            Unsupported,
        ),
        (GrpcCode.RESOURCE_EXHAUSTED, "too large", Rejected, Rejected),
        (GrpcCode.FAILED_PRECONDITION, "time is not in sync yet", Conflict, Conflict),
        (GrpcCode.FAILED_PRECONDITION, "another upgrade is already in progress", Locked, Locked),
        (GrpcCode.ABORTED, "changed meanwhile", Conflict, Conflict),
        (GrpcCode.UNIMPLEMENTED, "unknown service", Unsupported, Unsupported),
        (GrpcCode.INTERNAL, "broken", Rejected, Uncertain),
        (GrpcCode.UNAVAILABLE, "error reading from server: EOF", Unreachable, Uncertain),
        (GrpcCode.UNAVAILABLE, DIALING, Unreachable, Unreachable),
        (GrpcCode.DATA_LOSS, "lost", Rejected, Rejected),
        (GrpcCode.UNAUTHENTICATED, "who", Denied, Denied),
        (99, "what", Rejected, Rejected),
    ],
)
def test_a_code_means_an_error(
    code: int, told: str, read: type[StockmanError], change: type[StockmanError]
) -> None:
    refused = CallFailure(code=code, message=told)

    assert type(call_error(READ, refused)) is read
    assert type(call_error(CHANGE, refused)) is change
    assert told in call_error(READ, refused).problem.why


@pytest.mark.parametrize("code", list(GrpcCode)[1:])
def test_a_refusal_without_words_has_a_reason_all_the_same(code: GrpcCode) -> None:
    assert call_error(READ, CallFailure(code=code)).problem.why


def test_what_a_machine_says_is_fit_for_a_terminal() -> None:
    assert clean_text("a\x1b[31m\nb" + "x" * 1000, ("b",))[:8] == "a [31m *"


def test_secrets_of_a_request_are_not_repeated() -> None:
    talos_request = TalosRequest(
        method=CHANGE.method, node=NODE, message=b"s3cr3t", secrets=("s3cr3t",)
    )

    problem = call_error(
        talos_request, CallFailure(code=GrpcCode.UNKNOWN, message="bad s3cr3t")
    ).problem

    assert "s3cr3t" not in f"{problem} {talos_request!r}"
