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
    scene = made.scene
    before = stories.objects(made, real_tool, "nodes")
    scene.environment["PROXMOX_VE_API_TOKEN"] = scene.administrator
    name = json.loads(scene.stockman("status", "-o", "json").out)["data"]["cluster"]

    scene.done("destroy", "--yes", "--name", name)
    assert scene.lab("status")["clusters"][0]["guests"] == 0
    made.ran = scene.stockman(*APPLY)
    scene.without_administrator()

    stories.the_second_run_changes_nothing(made)
    stories.talosctl_finds_health(made, real_tool)
    after = stories.objects(made, real_tool, "nodes")
    assert [one["metadata"]["name"] for one in after] == [one["metadata"]["name"] for one in before]
    assert [one["metadata"]["uid"] for one in after] != [one["metadata"]["uid"] for one in before]
