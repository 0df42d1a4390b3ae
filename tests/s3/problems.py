"""Problems of object storage, made by the calls that end with them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from stockman.model.errors import StockmanError
from stockman.model.problem import Problem
from stockman.s3.errors import (
    content_mismatch,
    reply_error,
    uncertain,
    unexpected_answer,
    unreachable,
)
from stockman.s3.location import S3Location, validate_key, validate_location

SNAPSHOT = "PUT s3://etcd-backups/main/monday"
LIST = "GET s3://etcd-backups"


def told(shown: str, status: int, code: str = "") -> Problem:
    return reply_error(shown, status, f"<Error><Code>{code}</Code></Error>").problem


def refused(call: Callable[[], object]) -> Problem:
    with pytest.raises(StockmanError) as caught:
        call()
    return caught.value.problem


MADE_BY_CALL: dict[str, Callable[[], Problem]] = {
    "objects.address": lambda: refused(
        lambda: validate_location(
            S3Location(bucket="etcd-backups", endpoint="http://10.42.0.5:9000")
        )
    ),
    "objects.answer": lambda: unexpected_answer(LIST, "its list is not XML").problem,
    "objects.busy": lambda: told(SNAPSHOT, 503, "SlowDown"),
    "objects.clock": lambda: told(SNAPSHOT, 403, "RequestTimeTooSkewed"),
    "objects.conflict": lambda: told("PUT s3://etcd-backups/main/lock", 412, "PreconditionFailed"),
    "objects.content": lambda: (
        content_mismatch("main/monday.parts/5f2c", "SHA-256 mismatch").problem
    ),
    "objects.denied": lambda: told(SNAPSHOT, 403, "SignatureDoesNotMatch"),
    "objects.key": lambda: refused(lambda: validate_key("main//monday")),
    "objects.not-found": lambda: told(LIST, 404, "NoSuchBucket"),
    "objects.rejected": lambda: told(LIST, 400, "AuthorizationHeaderMalformed"),
    "objects.uncertain": lambda: (
        uncertain("PUT s3://etcd-backups/main/lock", "the connection was lost").problem
    ),
    "objects.unreachable": lambda: unreachable(LIST, "connection failed").problem,
}
