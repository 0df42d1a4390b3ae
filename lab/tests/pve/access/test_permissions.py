"""The permission model, sentence by sentence."""

from __future__ import annotations

import pytest
from stockman_lab.pve.access.identity import Caller
from stockman_lab.pve.access.permissions import Authority
from stockman_lab.pve.access.privileges import Profile, privileges
from stockman_lab.pve.errors import ApiError

from lab.tests.pve.access.house import (
    ANN,
    ANN_FULL_TOKEN,
    ANN_TOKEN,
    ROOT,
    ROOT_TOKEN,
    authority,
)

EVERYTHING = privileges(Profile.PVE_9_1).all

LOOK = {"VM.Audit": True}
START = {"VM.Audit": True, "VM.PowerMgmt": True}


def refusal(found: Authority, caller: Caller, path: str, *privs: str, any_of: bool = False) -> str:
    with pytest.raises(ApiError) as caught:
        found.check(caller, path, *privs, any_of=any_of)
    return f"{caught.value.status} {caught.value.message}"


@pytest.mark.parametrize(
    ("entries", "caller", "path", "held"),
    [
        pytest.param([], ANN, "/vms/100", {}, id="without entries nobody holds anything"),
        pytest.param(["/vms/100 ann@pve Look"], ANN, "/vms/100", LOOK, id="an entry of a user"),
        pytest.param(["/vms/100 @staff Look"], ANN, "/vms/100", LOOK, id="an entry of a group"),
        pytest.param(["/vms/100 @night Look"], ANN, "/vms/100", {}, id="of somebody else's group"),
        pytest.param(["/vms/100 bob@pve Look"], ANN, "/vms/100", {}, id="of somebody else"),
        pytest.param(["/vms/100 ann@pve Look"], ANN, "/vms/101", {}, id="on something else"),
        pytest.param(["/ ann@pve Look"], ANN, "/vms/100", LOOK, id="it reaches everything below"),
        pytest.param(["/vms ann@pve Look"], ANN, "/", {}, id="it does not reach upwards"),
        pytest.param(["/vms ann@pve Look-"], ANN, "/vms/100", {}, id="unless it stays on its path"),
        pytest.param(
            ["/vms ann@pve Look-"], ANN, "/vms", {"VM.Audit": False}, id="where it still counts"
        ),
        pytest.param(
            ["/ ann@pve Start", "/vms/100 ann@pve Look"],
            ANN,
            "/vms/100",
            LOOK,
            id="the deeper path replaces",
        ),
        pytest.param(
            ["/ ann@pve Start", "/vms/100 @staff Look"],
            ANN,
            "/vms/100",
            LOOK,
            id="a deeper group replaces a user above",
        ),
        pytest.param(
            ["/ ann@pve Start", "/vms ann@pve Look-"],
            ANN,
            "/vms/100",
            START,
            id="what does not reach down replaces nothing below",
        ),
        pytest.param(
            ["/vms/100 ann@pve Look", "/vms/100 ann@pve PVETemplateUser"],
            ANN,
            "/vms/100",
            {"VM.Audit": True, "VM.Clone": True},
            id="roles on one level add up",
        ),
        pytest.param(
            ["/vms/100 ann@pve Look-", "/vms/100 ann@pve Start"],
            ANN,
            "/vms/100",
            START,
            id="a privilege reaches down if one of its roles does",
        ),
        pytest.param(
            ["/vms/100 @staff Start", "/vms/100 ann@pve Look"],
            ANN,
            "/vms/100",
            LOOK,
            id="on one level the user goes before the group",
        ),
        pytest.param(
            ["/vms @staff Start", "/vms ann@pve Look-"],
            ANN,
            "/vms/100",
            START,
            id="but only with entries that reach this far",
        ),
        pytest.param(
            ["/vms/100 ann@pve Start", "/vms/100 ann@pve!narrow Look"],
            ANN_TOKEN,
            "/vms/100",
            LOOK,
            id="the token has its own entries",
        ),
        pytest.param(
            ["/vms/100 ann@pve Start", "/vms/100 ann@pve NoAccess"],
            ANN,
            "/vms/100",
            {},
            id="no access beats other roles",
        ),
        pytest.param(
            ["/ ann@pve Start", "/vms ann@pve NoAccess"],
            ANN,
            "/vms/100",
            {},
            id="no access reaches down",
        ),
        pytest.param(
            ["/vms ann@pve NoAccess", "/vms/100 ann@pve Look"],
            ANN,
            "/vms/100",
            LOOK,
            id="a deeper role replaces no access",
        ),
        pytest.param(
            ["/sdn/zones/localnetwork/vmbr0 ann@pve PVESDNUser"],
            ANN,
            "/sdn/zones/localnetwork/vmbr0/62",
            {"SDN.Audit": True, "SDN.Use": True},
            id="a bridge gives its VLANs",
        ),
    ],
)
def test_what_entries_give(
    entries: list[str], caller: Caller, path: str, held: dict[str, bool]
) -> None:
    assert authority(*entries).permissions(caller, path) == held


def test_a_token_without_separation_is_its_user() -> None:
    found = authority("/vms ann@pve Start")

    assert found.permissions(ANN_FULL_TOKEN, "/vms/100") == START


def test_a_separated_token_has_what_both_it_and_its_user_have() -> None:
    found = authority("/vms ann@pve Start", "/vms/100 ann@pve!narrow PVETemplateUser-")

    assert found.permissions(ANN_TOKEN, "/vms/100") == {"VM.Audit": False}


def test_a_separated_token_gains_nothing_from_the_groups_of_its_user() -> None:
    assert authority("/vms @staff Start").permissions(ANN_TOKEN, "/vms/100") == {}


def test_a_separated_token_keeps_what_pools_give_to_both() -> None:
    entries = ("/pool/web ann@pve Start", "/pool/web ann@pve!narrow Look")

    found = authority(*entries, pools={"web": {"/vms/100"}})

    assert found.permissions(ANN_TOKEN, "/vms/100") == {"VM.Audit": False}


def test_root_passes_everything() -> None:
    assert authority().permissions(ROOT, "/vms/100") == dict.fromkeys(EVERYTHING, True)


def test_a_separated_token_of_root_has_its_own_entries_and_no_more() -> None:
    found = authority("/vms root@pam!all Start")

    assert found.permissions(ROOT_TOKEN, "/vms/100") == START
    assert found.permissions(ROOT_TOKEN, "/nodes") == {}


def test_a_path_that_cannot_be_written_gives_nothing() -> None:
    assert authority("/ ann@pve Administrator").permissions(ANN, "") == {}


def test_a_very_deep_path_inherits_like_any_other() -> None:
    found = authority("/ ann@pve Look", "/vms @night Start")

    assert found.permissions(ANN, "/vms" + "/x" * 100_000) == LOOK


def test_a_privilege_that_the_profile_does_not_know_is_a_mistake_even_for_root() -> None:
    assert refusal(authority(), ROOT, "/", "VM.Monitor") == "500 invalid privilege 'VM.Monitor'"
