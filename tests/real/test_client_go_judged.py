"""client-go, which controllers are made with, finds on the lab what it finds on a real server."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.real.kube_served import Kubectl, kubectl_on_lab
from tests.real.rendered.api_server import api_server
from tools.pytest_plugin import RealTool

Seen = dict[str, Any]
OBJECTS = 250
OLD = "1"
WAYS = {"json": ("json", "true"), "protobuf": ("protobuf", "false")}
"""In which form bodies are sent, and whether lists come as streams."""


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory, real_tool: RealTool) -> Iterator[Path]:
    scratch = tmp_path_factory.mktemp("lab")
    with kubectl_on_lab(scratch, real_tool("kubectl"), "127.98.0.0/16") as served:
        served.lab.run(lambda: _forget(served))
        yield served.config


def _forget(served: Kubectl) -> None:
    """Let the store forget what was, as it does every few minutes."""
    for name in served.lab.world.talos.state.etcd:
        cluster = served.lab.world.kubernetes.cluster(name)
        assert cluster is not None
        cluster.connect().compact(cluster.keyspace.revision)


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory, real_tool: RealTool) -> Iterator[Path]:
    mktemp = tmp_path_factory.mktemp("real")
    with api_server(mktemp, real_tool) as server:
        newest = json.loads(server.told("/api/v1/namespaces"))["metadata"]["resourceVersion"]
        etcdctl = real_tool("etcdctl")
        command = [etcdctl, "--endpoints", server.etcd, "compact", newest]
        subprocess.run(command, check=True, capture_output=True)
        yield mktemp / "kubeconfig"


@pytest.fixture(scope="module", params=["lab", "real"])
def config(request: pytest.FixtureRequest) -> Path:
    path: Path = request.getfixturevalue(request.param)
    return path


@pytest.fixture(scope="module", params=WAYS)
def way(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def seen(config: Path, way: str, real_tool: RealTool) -> Seen:
    form, streams = WAYS[way]
    found = subprocess.run(
        [real_tool("check-client-go"), config, form, OLD],
        env={"PATH": os.environ["PATH"], "KUBE_FEATURE_WatchListClient": streams},
        capture_output=True,
        text=True,
        timeout=150,
        check=False,
    )
    assert found.returncode == 0, found.stderr
    told: Seen = json.loads(found.stdout)
    return told


def test_a_second_leader_takes_over_when_the_lease_of_the_first_has_run_out(seen: Seen) -> None:
    assert seen["election"] == {
        "first": "dolly",
        "second": "molly",
        "observed": ["dolly", "molly"],
        "led_at_once": False,
        "waited": True,
        "transitions": 1,
        "left": "",
    }


@pytest.mark.parametrize("kind", ["config_maps", "pods", "flocks"])
def test_an_informer_sees_all_by_one_list_and_one_watch(seen: Seen, way: str, kind: str) -> None:
    streams = WAYS[way][1] == "true"

    assert seen["informers"][kind] == {
        "added": 12,
        "deleted": 1,
        "cached": 11,
        "requests": {"lists": 0 if streams else 1, "watches": 1},
    }


def test_listeners_share_an_informer_and_end_with_it(seen: Seen) -> None:
    informers = seen["informers"]

    assert (informers["shared"], informers["status"], informers["failed"]) == (12, 12, 0)
    assert informers["ended"]


def test_appliers_own_what_they_applied(seen: Seen) -> None:
    applying = seen["applying"]
    why = 'Apply failed with 1 conflict: conflict with "shearer": .data.colour'

    assert applying["conflict"] == why
    assert applying["causes"] == [".data.colour"]
    assert applying["forced"] == {"colour": "black", "kilos": "3"}
    assert (applying["extracted"], applying["let_go"]) == ({"kilos": "3"}, {"colour": "black"})
    assert (applying["managers"], applying["same"]) == (["Apply dyer"], True)


def test_a_guest_adds_a_container_to_the_deployment_of_its_owner(seen: Seen) -> None:
    applying = seen["applying"]

    assert applying["images"] == ["example.org/sheep:1", "example.org/dog:2"]
    assert applying["scaled"] == 3


def test_a_thousand_changes_are_worked_off_without_listing_anew(seen: Seen, way: str) -> None:
    queue = seen["queue"]
    streams = WAYS[way][1] == "true"

    assert queue["done"] == 4 * OBJECTS
    assert (queue["added"], queue["updated"], queue["deleted"]) == (OBJECTS, 3 * OBJECTS, OBJECTS)
    assert (queue["handled"], queue["finalized"]) == (OBJECTS, OBJECTS)
    assert (queue["wrong"], queue["left"]) == (0, 0)
    assert queue["requests"] == {"lists": 0 if streams else 1, "watches": 1}


def test_a_conflict_is_tried_again_until_every_change_counts(seen: Seen) -> None:
    assert seen["conflicts"] == {"attempts": 2, "reason": "Conflict", "sum": "50"}


def test_pages_show_one_moment(seen: Seen) -> None:
    pages = seen["pages"]

    assert (pages["names"], pages["lists"]) == (37, 4)
    assert (pages["kept"], pages["one_moment"]) == (True, True)
    assert len(pages["remaining"]) == 3
    assert pages["remaining"] == sorted(pages["remaining"], reverse=True)


def test_the_end_of_a_watch_is_announced_by_a_bookmark(seen: Seen) -> None:
    assert seen["bookmarks"] == {
        "seen": ["ADDED", "BOOKMARK"],
        "newest": True,
        "named": "",
        "ended": True,
        "initial": "ADDED late\nADDED one-00\nBOOKMARK true\n",
    }


def test_who_asks_for_what_is_forgotten_lists_once_more(seen: Seen) -> None:
    assert seen["relisting"] == {
        "reason": "Expired",
        "code": 410,
        "lists": 2,
        "watches": 3,
        "cached": 6,
    }


def test_watches_that_end_go_on_where_they_ended(seen: Seen, way: str) -> None:
    brief = seen["brief"]
    streams = WAYS[way][1] == "true"

    assert brief["updates"] == brief["made"] > 0
    assert brief["requests"]["lists"] == (0 if streams else 1)
    assert brief["requests"]["watches"] <= brief["seconds"] / 2 + 2
