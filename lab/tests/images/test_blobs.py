"""Contents that are kept as long as somebody holds them."""

from __future__ import annotations

import hashlib

import pytest
from stockman_lab.images.blobs import Blobs


def test_a_content_is_kept_once_under_its_sha256() -> None:
    blobs = Blobs()

    names = {blobs.put(b"abc") for _ in range(3)}

    assert names == {hashlib.sha256(b"abc").hexdigest()}
    assert blobs.size == 3
    assert blobs.get(*names) == b"abc"


def test_the_last_holder_takes_it_along() -> None:
    blobs = Blobs()
    name = blobs.put(b"abc")
    blobs.hold(name)
    blobs.hold(name)

    blobs.release(name)
    assert name in blobs
    blobs.release(name)

    assert name not in blobs
    assert blobs == Blobs()


def test_zeros_are_nobodys() -> None:
    blobs = Blobs()

    blobs.hold("")
    blobs.release("")

    assert blobs == Blobs()
    assert blobs.get("") == b""


def test_what_is_not_there_is_neither_held_nor_released() -> None:
    blobs = Blobs()
    name = blobs.put(b"never held")

    with pytest.raises(KeyError):
        blobs.hold("unknown")
    with pytest.raises(KeyError):
        blobs.release(name)
