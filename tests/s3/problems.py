"""Problems of object storage, made by the calls that end with them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from stockman.model.errors import StockmanError
from stockman.model.problem import Problem
from stockman.s3.places import S3Place, checked, checked_key
from stockman.s3.refusals import (
    odd_answer,
    other_content,
    refusal,
    uncertain,
    unreachable,
)

SNAPSHOT = "PUT s3://etcd-backups/main/monday"
LIST = "GET s3://etcd-backups"


def told(shown: str, status: int, code: str = "") -> Problem:
    return refusal(shown, status, f"<Error><Code>{code}</Code></Error>").problem


def refused(call: Callable[[], object]) -> Problem:
    with pytest.raises(StockmanError) as caught:
        call()
    return caught.value.problem


MADE_BY_CALL: dict[str, Callable[[], Problem]] = {
    "objects.address": lambda: refused(
        lambda: checked(S3Place(bucket="etcd-backups", endpoint="http://10.42.0.5:9000"))
    ),
    "objects.answer": lambda: odd_answer(LIST, "its list is not XML").problem,
    "objects.busy": lambda: told(SNAPSHOT, 503, "SlowDown"),
    "objects.clock": lambda: told(SNAPSHOT, 403, "RequestTimeTooSkewed"),
    "objects.conflict": lambda: told("PUT s3://etcd-backups/main/lock", 412, "PreconditionFailed"),
    "objects.content": lambda: (
        other_content("main/monday.parts/5f2c", "its SHA-256 is another").problem
    ),
    "objects.denied": lambda: told(SNAPSHOT, 403, "SignatureDoesNotMatch"),
    "objects.key": lambda: refused(lambda: checked_key("main//monday")),
    "objects.not-found": lambda: told(LIST, 404, "NoSuchBucket"),
    "objects.rejected": lambda: told(LIST, 400, "AuthorizationHeaderMalformed"),
    "objects.uncertain": lambda: (
        uncertain("PUT s3://etcd-backups/main/lock", "the connection was cut").problem
    ),
    "objects.unreachable": lambda: unreachable(LIST, "no connection to it").problem,
}
