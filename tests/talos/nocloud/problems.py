"""Every problem of the files of a first boot, made by input that its page is compared with."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from stockman.model.errors import StockmanError
from stockman.model.problem import Problem
from stockman.talos.nocloud.iso_format import nocloud_image
from stockman.talos.nocloud.seed import smbios_serial


def refused(call: Callable[[], object]) -> Problem:
    with pytest.raises(StockmanError) as caught:
        call()
    return caught.value.problem


MADE_BY_CALL: dict[str, Callable[[], Problem]] = {
    "nocloud.image-content": lambda: refused(
        lambda: nocloud_image({"user data": b""}, datetime(2026, 1, 1, tzinfo=UTC))
    ),
    "nocloud.serial": lambda: refused(lambda: smbios_serial(url="tftp://127.66.0.9/")),
}
