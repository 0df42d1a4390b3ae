"""What was destroyed is made again from the same files, over the wire.

A cluster is destroyed for that: tests that look at it have to come before this one.
"""

from __future__ import annotations

import json

import pytest

from tests.real.apply import stories
from tests.real.apply.herd import APPLY, Made
from tools.pytest_plugin import RealTool


@pytest.mark.parametrize("cluster", ["1.12"])
def test_what_was_destroyed_is_made_again_from_the_same_files(
    cluster: str, made: Made, real_tool: RealTool
) -> None:
    here = made.scene
    before = stories.objects(made, real_tool, "nodes")
    here.environment["PROXMOX_VE_API_TOKEN"] = here.administrator
    name = json.loads(here.stockman("status", "-o", "json").out)["data"]["cluster"]

    here.done("destroy", "--yes", "--name", name)
    assert here.lab("status")["clusters"][0]["guests"] == 0
    made.ran = here.stockman(*APPLY)
    here.without_administrator()

    stories.the_second_run_changes_nothing(made)
    stories.talosctl_finds_health(made, real_tool)
    after = stories.objects(made, real_tool, "nodes")
    assert [one["metadata"]["name"] for one in after] == [one["metadata"]["name"] for one in before]
    assert [one["metadata"]["uid"] for one in after] != [one["metadata"]["uid"] for one in before]
