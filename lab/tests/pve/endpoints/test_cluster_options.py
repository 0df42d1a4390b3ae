"""Settings of the whole cluster."""

from __future__ import annotations

import pytest
from stockman_lab.pve.access.identity import Caller
from stockman_lab.pve.errors import ApiError
from stockman_lab.servers.memory import MemoryClient

from lab.tests.guests import put_guest
from lab.tests.worlds import door

OPTIONS = "/cluster/options"


@pytest.fixture
def lab() -> MemoryClient:
    return door()


def test_settings_of_several_values_are_taken_apart(lab: MemoryClient) -> None:
    lab.put(
        OPTIONS,
        migration="insecure,network=10.0.0.0/8",
        crs="ha=static,ha-rebalance-on-start=1",
        next__id="lower=200,upper=300",
        bwlimit="clone=100",
        keyboard="de",
        description="wool",
    )
    reply = lab.get(OPTIONS)
    assert reply["migration"] == {"type": "insecure", "network": "10.0.0.0/8"}
    assert reply["crs"] == {"ha": "static", "ha-rebalance-on-start": 1}
    assert reply["next-id"] == {"lower": "200", "upper": "300"}
    assert (reply["bwlimit"], reply["keyboard"]) == ("clone=100", "de")
    assert reply["description"] == "wool\n"
    assert lab.get("/cluster/nextid") == "200"


def test_the_range_of_ids_has_to_have_an_end_behind_its_beginning(lab: MemoryClient) -> None:
    reply = lab.reply("PUT", OPTIONS, {"next-id": "lower=300,upper=200"})
    assert reply.reason == "lower (300) <= upper (200) boundary rule broken"
    assert "next-id" not in lab.cluster.state.options


def test_tags_are_those_in_sight_and_those_of_the_cluster(lab: MemoryClient) -> None:
    put_guest(lab, 100, tags="wool;white")
    settings = {
        "registered-tags": "shepherd",
        "user-tag-access": "user-allow=existing,user-allow-list=grass;hay",
    }
    assert lab.reply("PUT", OPTIONS, dict(settings)).status == 200
    reply = lab.get(OPTIONS)
    assert reply["allowed-tags"] == ["grass", "hay", "shepherd", "white", "wool"]
    assert reply["registered-tags"] == ["shepherd"]
    assert reply["user-tag-access"]["user-allow-list"] == ["grass", "hay"]


def test_others_see_little(lab: MemoryClient) -> None:
    lab.put(OPTIONS, console="html5", keyboard="de")
    lab.post("/access/users", userid="ada@pve")
    assert lab.as_caller(Caller("ada@pve")).get(OPTIONS) == {"console": "html5", "allowed-tags": []}
    with pytest.raises(ApiError, match=r"Permission check failed \(/, Sys.Modify\)"):
        lab.as_caller(Caller("ada@pve")).put(OPTIONS, keyboard="fr")
