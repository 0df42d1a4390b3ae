"""What a storage's no means."""

from __future__ import annotations

import pytest

from stockman.model.errors import (
    Busy,
    Conflict,
    Denied,
    NotFound,
    Rejected,
    StockmanError,
    Uncertain,
    Unreachable,
)
from stockman.s3.errors import reply_error
from stockman.s3.xml import parse_page, parse_timestamp


@pytest.mark.parametrize(
    ("status", "code", "error"),
    [
        (404, "NoSuchKey", NotFound),
        (409, "OperationAborted", Conflict),
        (412, "PreconditionFailed", Conflict),
        (401, "", Denied),
        (403, "InvalidAccessKeyId", Denied),
        (429, "", Busy),
        (503, "SlowDown", Busy),
        (500, "InternalError", Unreachable),
        (301, "PermanentRedirect", Rejected),
        (400, "MalformedXML", Rejected),
        (501, "NotImplemented", Unreachable),
    ],
)
def test_a_status_has_a_meaning(status: int, code: str, error: type[StockmanError]) -> None:
    assert type(reply_error("GET s3://flock", status, f"<Code>{code}</Code>")) is error


@pytest.mark.parametrize(("status", "error"), [(500, Uncertain), (503, Uncertain), (403, Denied)])
def test_what_must_not_be_done_twice_is_uncertain(status: int, error: type[StockmanError]) -> None:
    assert type(reply_error("PUT s3://flock/a", status, "", once=True)) is error


def test_only_the_code_of_an_answer_is_repeated() -> None:
    told = (
        "<Error><Code>SignatureDoesNotMatch</Code><AWSAccessKeyId>canary</AWSAccessKeyId>"
        "<StringToSign>canary</StringToSign></Error>"
    )
    problem = reply_error("GET s3://flock", 403, told).problem
    assert "canary" not in str(problem)
    assert problem.why == "it replies 403 SignatureDoesNotMatch"


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>",
        b"<Other/>",
        b"<!DOCTYPE a [<!ENTITY b 'c'>]><List>&b;</List>",
        b"x" * (33 << 20),
    ],
)
def test_what_is_no_list_is_rejected(body: bytes) -> None:
    with pytest.raises(Rejected, match=r"objects\.answer"):
        parse_page("GET s3://flock", body, "List", "Row")


@pytest.mark.parametrize("text", ["", "yesterday", "2026-01-01T00:00:00"])
def test_what_is_no_moment_is_rejected(text: str) -> None:
    with pytest.raises(Rejected, match=r"objects\.answer"):
        parse_timestamp("GET s3://flock", text)
