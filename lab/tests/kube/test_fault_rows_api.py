"""What goes wrong with API servers can be brought about: errors, old answers, none at all."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from stockman_lab.talos import acting
from stockman_lab.talos.status import has_static_pods

from lab.tests.kube.calling import config_map
from lab.tests.kube.troubles import CORE, Troubled
from lab.tests.talos.asking import Asking

MAPS = f"{CORE}/configmaps"
OF_MAPS = "resource=configmaps"


@pytest.fixture
def lab() -> Troubled:
    return Troubled()


def names(lab: Troubled) -> list[str]:
    result = [item["metadata"]["name"] for item in lab.get(MAPS)["items"]]
    return [item for item in result if item != "kube-root-ca.crt"]


def streamed(lab: Troubled, **query: str) -> list[Any]:
    """All events of a watch that ends by itself."""
    answer = lab.answer("GET", MAPS, None, watch="1", **query).response
    assert answer is not None

    async def lines() -> list[Any]:
        assert answer.stream is not None
        return [json.loads(item) async for item in answer.stream]

    return asyncio.run(lines())


# -- errors ------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["etcdserver: leader changed", "etcdserver: request timed out"])
def test_etcd_does_not_do_it_and_the_server_passes_that_on(lab: Troubled, text: str) -> None:
    lab.let("kubernetes", "fail", OF_MAPS, status=500, message=text, times="2")
    for _ in range(2):
        status, told = lab.ask("POST", MAPS, config_map("wool"))
        assert (status, told["message"], told.get("reason")) == (500, text, None)
    assert lab.ask("POST", MAPS, config_map("wool"))[0] == 201


def test_what_failed_was_done_all_the_same(lab: Troubled) -> None:
    lab.let("kubernetes", "do-then-fail", OF_MAPS, message="etcdserver: leader changed")
    assert lab.ask("POST", MAPS, config_map("wool"))[0] == 500
    assert names(lab) == ["wool"]


def test_a_server_never_answers_or_answers_late(lab: Troubled) -> None:
    lab.let("kubernetes", "hang", OF_MAPS, "verb=list")
    assert lab.answer("GET", MAPS).response is None
    lab.let("kubernetes", "delay", OF_MAPS, "verb=list", seconds=45)
    assert lab.answer("GET", MAPS).seconds == 45


def test_only_one_of_three_servers_has_trouble(lab: Troubled) -> None:
    lab.let("kubernetes", "fail", "machine=talos-neo", status=503, times="always")
    status = {}
    for machine in lab.world.talos.machines:
        lab.machine = machine
        status[machine.hostname] = lab.ask("GET", MAPS)[0]
    assert status == {"talos-neo": 503, "talos-niobe": 200, "talos-trinity": 200}


# -- what is old -------------------------------------------------------------------------------


def test_a_list_is_old_until_the_fault_is_taken_back(lab: Troubled) -> None:
    lab.ask("POST", MAPS, config_map("first"))
    number = lab.let("kubernetes", "lie", OF_MAPS, times="always")
    assert names(lab) == ["first"]
    lab.ask("POST", MAPS, config_map("second"))
    assert names(lab) == ["first"]
    lab.take_back(number)
    assert names(lab) == ["first", "second"]


def test_a_server_has_forgotten_where_a_list_or_a_watch_wants_to_go_on(lab: Troubled) -> None:
    version = lab.get(MAPS)["metadata"]["resourceVersion"]
    lab.let("kubernetes", "fail", OF_MAPS, status=410, times="2")
    status, told = lab.ask("GET", MAPS, None, resourceVersion=version)
    assert (status, told["reason"]) == (410, "Expired")
    assert told["message"] == "The resourceVersion for the provided list is too old."
    (event,) = streamed(lab, resourceVersion=version)
    assert (event["type"], event["object"]["code"]) == ("ERROR", 410)
    assert event["object"]["reason"] == "Expired"
    assert lab.ask("GET", MAPS, None, resourceVersion=version)[0] == 200


def test_a_watch_breaks_in_its_midst(lab: Troubled) -> None:
    lab.let("kubernetes", "cut", OF_MAPS, "verb=watch", seconds=30)
    answer = lab.answer("GET", MAPS, None, watch="1")
    assert (answer.is_cut, answer.seconds) == (True, 30)


# -- none at all -------------------------------------------------------------------------------


def is_served(lab: Troubled) -> bool:
    cluster = lab.world.kubernetes.cluster_of(lab.machine)
    return cluster is not None and cluster.is_served()


def reboot_all(lab: Troubled) -> None:
    for machine in lab.world.talos.machines:
        acting.reboot(machine, "default")


def test_no_server_comes_for_ten_minutes_while_machines_answer(lab: Troubled) -> None:
    lab.let("talos-step", "delay", "step=static-pods", seconds=600, times="3")
    reboot_all(lab)
    lab.world.advance(400)
    assert not is_served(lab)
    for machine in lab.world.talos.machines:
        assert Asking(lab.world, machine).call("Version").version.tag == "v1.13.9"
        assert len(Asking(lab.world, machine).call("EtcdMemberList").members) == 3
        status = Asking(lab.world, machine).call("ServiceList").services
        assert {item.id: item.state for item in status}["kubelet"] == "Running"
    lab.world.settle()
    assert is_served(lab)
    assert {lab.ready(one.hostname) for one in lab.world.talos.machines} == {"True"}


def test_servers_never_come_though_their_machines_do(lab: Troubled) -> None:
    lab.let("talos-step", "hang", "step=static-pods", times="always")
    reboot_all(lab)
    lab.world.settle()
    assert not is_served(lab)
    assert not any(has_static_pods(machine) for machine in lab.world.talos.machines)
    assert Asking(lab.world, lab.machine).call("Version").version.tag == "v1.13.9"
