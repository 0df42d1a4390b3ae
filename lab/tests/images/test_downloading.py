"""Downloads into a storage."""

from __future__ import annotations

import hashlib

import pytest
from stockman_lab.images.downloading import Checksum, Download, existing_is_right, finished
from stockman_lab.images.fetching import FetchFailed
from stockman_lab.images.image import Form
from stockman_lab.images.making import disk_image

from lab.tests.images.made import facts

URL = "http://127.66.0.9/a"
PATH = "/var/lib/vz/import/a.qcow2"
IMAGE = disk_image(facts(), Form.QCOW2)


def wanted(**changes: object) -> Download:
    return Download(**{"url": URL, "path": PATH, "form": "qcow2", "pid": 7, **changes})  # type: ignore[arg-type]


def got(want: Download, content: bytes, log: list[str] | None = None) -> bytes:
    return finished(want, content, ([] if log is None else log).append)


def refusal(want: Download, content: bytes) -> str:
    with pytest.raises(FetchFailed) as failure:
        got(want, content)
    return failure.value.text


def test_an_image_is_kept_and_the_log_tells_so() -> None:
    log: list[str] = []

    assert got(wanted(), IMAGE, log) == IMAGE

    assert log[-1] == f"download of '{URL}' to '{PATH}' finished"


def test_the_wrong_checksum_does_not() -> None:
    checksum = Checksum(algorithm="md5", expected="AB")

    assert refusal(wanted(checksum=checksum), b"x") == (
        "checksum mismatch: got '9dd4e461268c8034f5c8564e155c67a6' != expect 'AB'"
    )


def test_what_is_no_image_is_refused() -> None:
    assert refusal(wanted(), b"<html>") == (
        "failed to verify file: failed to query file information with qemu-img"
    )


def test_templates_are_not_looked_at() -> None:
    assert got(wanted(is_image=False), b"anything") == b"anything"


def test_a_file_that_is_there_is_not_replaced() -> None:
    with pytest.raises(FetchFailed) as failure:
        existing_is_right(wanted(), IMAGE, lambda _: None)

    assert failure.value.text == f"refusing to override existing file '{PATH}'"


def test_a_file_that_is_there_and_right_will_do() -> None:
    log: list[str] = []
    checksum = Checksum(algorithm="sha1", expected=hashlib.sha1(IMAGE).hexdigest())

    existing_is_right(wanted(checksum=checksum), IMAGE, log.append)

    assert log[-1].endswith("OK, got correct file already, no need to download")


def test_a_file_that_is_there_and_wrong_is_left_alone() -> None:
    checksum = Checksum(algorithm="sha1", expected="ab")

    with pytest.raises(FetchFailed, match=r"^checksum mismatch: got '\w{40}' != expect 'ab', abo"):
        existing_is_right(wanted(checksum=checksum), IMAGE, lambda _: None)
