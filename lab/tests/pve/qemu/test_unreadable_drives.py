"""Drives that are written down and that nobody can read: the real one writes such, too."""

from __future__ import annotations

import pytest
from stockman_lab.pve.errors import ApiError

from lab.tests.machines import QEMU, create, ended
from lab.tests.worlds import door


def test_a_worker_that_meets_one_fails_and_the_world_goes_on() -> None:
    api = door()
    guest = create(api)
    guest.config.pending["efidisk0"] = "none,=cdrom"

    status = ended(api, "POST", f"{QEMU}/100/status/start")

    assert status.startswith("missing key in comma-separated list property")
    assert not guest.is_running


def test_a_clone_of_one_is_refused() -> None:
    api = door()
    create(api).config.values["efidisk0"] = "none,=cdrom"

    with pytest.raises(ApiError, match="unable to parse drive options for 'efidisk0'"):
        api.post(f"{QEMU}/100/clone", newid=101)
