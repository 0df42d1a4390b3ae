"""What may be changed while a virtual machine runs."""

from __future__ import annotations

import pytest
from stockman_lab.pve.formats.format_error import FormatError
from stockman_lab.pve.guest_config.hotplug import parse_hotplug


def test_an_unknown_feature_is_refused() -> None:
    with pytest.raises(FormatError, match="invalid hotplug feature 'sound'"):
        parse_hotplug("disk,sound")
