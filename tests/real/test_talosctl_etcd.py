"""talosctl looks after the etcd of the lab: members, leaders, alarms, and what is lost."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.real.talos.served import Lab, served, staged
from tests.real.talos.stories import etcd
from tools.pytest_plugin import RealTool

OLDER, NEWER = "1.12.1", "1.14.1"


@pytest.fixture
def lab(request: pytest.FixtureRequest, tmp_path: Path, real_tool: RealTool) -> Iterator[Lab]:
    with served(staged("three-node", request.param), tmp_path, real_tool) as found:
        yield found


@pytest.mark.parametrize(
    ("client", "lab"),
    [("1.11.5", OLDER), ("1.12.1", OLDER), ("1.13.9", NEWER), ("1.14.1", NEWER)],
    indirect=["lab"],
)
def test_members_are_shown(lab: Lab, client: str) -> None:
    etcd.members_are_shown(lab, client)
    etcd.alarms_are_disarmed(lab, client)
    etcd.leadership_moves(lab, client)


@pytest.mark.parametrize(
    ("client", "lab"), [("1.13.9", OLDER), ("1.14.1", NEWER)], indirect=["lab"]
)
def test_members_go(lab: Lab, client: str) -> None:
    etcd.members_go(lab, client)


@pytest.mark.parametrize(("client", "lab"), [("1.12.1", OLDER)], indirect=["lab"])
def test_without_quorum_a_snapshot_is_all_there_is(lab: Lab, client: str) -> None:
    etcd.without_quorum(lab, client)
