"""Runs that were killed with signal 9 are finished: where they began, and by others elsewhere.

The others have a clone of their own; journal and lock are on a real S3 server then.
"""

from __future__ import annotations

import pytest

from tests.real.apply import stories
from tests.real.apply.canaries import canaries, written
from tests.real.apply.herd import APPLY, Made
from tests.real.apply.killed import kept
from tests.real.apply.scene import writes
from tools.pytest_plugin import RealTool

LEASE = "/namespaces/kube-system/leases/stockman?"
elsewhere = pytest.mark.parametrize("cluster", ["elsewhere"])


@pytest.mark.parametrize("cluster", ["killed"])
def test_a_run_that_is_killed_in_every_stage_comes_to_its_end(
    cluster: str, made: Made, real_tool: RealTool
) -> None:
    assert made.ran.status == 0, made.ran
    stories.the_second_run_changes_nothing(made)
    stories.talosctl_finds_health(made, real_tool)
    stories.kubectl_finds_ready_nodes(made, real_tool)
    requests = made.scene.requests()
    assert sum("/machine.MachineService/Bootstrap" in request for request in requests) == 1
    assert (
        sum(" POST " in request and request.split()[-1].endswith("/qemu") for request in requests)
        == 1
    )


@elsewhere
def test_the_second_operator_finishes_what_the_first_began(
    cluster: str, made: Made, real_tool: RealTool
) -> None:
    scene = made.scene
    assert made.ran.status == 0, made.ran
    assert "resumed by" in made.ran.err
    assert "vms/create" not in made.ran.err
    before = len(scene.requests())

    clients = scene.done(*APPLY)

    assert "2 steps: 2 done" in clients.out
    changed = writes(scene.requests()[before:])
    assert [one for one in changed if LEASE not in one] == []
    stories.the_second_run_changes_nothing(made)
    stories.kubectl_finds_ready_nodes(made, real_tool)


@elsewhere
def test_what_the_storage_holds_has_no_secret_in_it(cluster: str, made: Made) -> None:
    files = [one for one in kept(made.scene.folder).rglob("*") if one.is_file()]
    texts = {file.name: file.read_text() for file in files}

    assert any(text.endswith(".jsonl") for text in texts)
    assert any("vms/create" in text for text in texts.values())
    assert written(canaries(made), texts) == []
