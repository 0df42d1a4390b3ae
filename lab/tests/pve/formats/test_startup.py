"""When a guest starts and stops with its host."""

from __future__ import annotations

import pytest
from stockman_lab.pve.formats.format_error import FormatError
from stockman_lab.pve.formats.startup import Startup, parse_startup


@pytest.mark.parametrize("text", ["order=1,up=30,down=60", "1,down=60,up=30", "up=30,,1,down=60"])
def test_order_and_delays_may_stand_in_any_order(text: str) -> None:
    assert parse_startup(text) == Startup(order=1, up=30, down=60)


@pytest.mark.parametrize("text", ["", "0", "first", "up=", "order=-1", "up=1s"])
def test_what_is_no_startup_is_refused(text: str) -> None:
    with pytest.raises(FormatError, match="unable to parse startup options"):
        parse_startup(text)
