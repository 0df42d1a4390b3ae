"""What the library for objects says, in our words; none of it is repeated."""

from __future__ import annotations

import asyncio
import logging
import subprocess
import sys

import pytest

from stockman.adapters.s3 import S3Objects, store_error
from stockman.model.errors import Rejected, StockmanError, Uncertain, Unreachable
from stockman.s3.credentials import S3Credentials
from stockman.s3.location import S3Location
from tests.contract.objects.doors import CANARY, now, pieces, whole
from tests.contract.objects.doors import lab as over_the_wire


@pytest.mark.parametrize(
    ("text", "once", "error"),
    [
        ("HttpError {\n    kind: Connect,", True, Unreachable),
        ("HttpError {\n    kind: Timeout,", True, Uncertain),
        ("HttpError {\n    kind: Timeout,", False, Unreachable),
        ("HttpError {\n    kind: Interrupted,", False, Unreachable),
        ("something new", True, Rejected),
    ],
)
def test_a_kind_has_a_meaning(text: str, once: bool, error: type[StockmanError]) -> None:
    assert type(store_error("PUT s3://flock/a", OSError(text), once=once)) is error


def test_nobody_listens(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    s3_location = S3Location(bucket="flock", endpoint="http://127.0.0.1:1", region="us-east-1")
    keys = S3Credentials(access_key=CANARY, secret_key=CANARY, session_token=CANARY)

    async def told() -> list[StockmanError]:
        troubles: list[StockmanError] = []
        async with S3Objects(s3_location, keys, now, seconds=5) as objects:
            for call in (
                objects.create("a", b"wool"),
                objects.put("a", pieces(b"wool")),
                whole(objects, "a"),
                objects.delete("a"),
                objects.list_uploads(),
            ):
                with pytest.raises(Unreachable) as caught:
                    await call
                troubles.append(caught.value)
        return troubles

    for ended in asyncio.run(told()):
        assert CANARY.reveal() not in f"{ended} {ended.problem} {ended.__cause__} {ended!r}"
    assert CANARY.reveal() not in caplog.text


def test_variables_of_the_environment_do_not_change_who_asks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("AWS_SESSION_TOKEN", "of somebody else")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "of somebody else")

    async def story(scene: object) -> None:
        await scene.objects.create("a", b"wool")  # type: ignore[attr-defined]
        assert await whole(scene.objects, "a") == b"wool"  # type: ignore[attr-defined]

    over_the_wire(story)


def test_the_library_is_loaded_only_by_who_needs_it() -> None:
    code = "import sys, stockman.adapters.s3; print('obstore' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": ":".join(sys.path)},
        check=True,
        capture_output=True,
        text=True,
    )
    assert done.stdout.strip() == "False"
