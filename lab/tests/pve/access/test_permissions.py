"""Which privileges a caller holds on a path."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stockman_lab.pve.access.acl import AclChange, change_acl
from stockman_lab.pve.access.identity import Caller
from stockman_lab.pve.access.permissions import Authority, capabilities, is_valid, permissions_shown
from stockman_lab.pve.access.state import AccessState, Profile, privileges
from stockman_lab.pve.errors import ApiError

from lab.tests.pve.access.populated_access import (
    ANN,
    ANN_FULL_TOKEN,
    ANN_TOKEN,
    BOB,
    ROOT,
    ROOT_TOKEN,
    Pools,
    authority,
    give,
    populated,
)

EVERYTHING = privileges(Profile.PVE_9_1).all

LOOK = {"VM.Audit": True}
START = {"VM.Audit": True, "VM.PowerMgmt": True}


def refusal(access: Authority, caller: Caller, path: str, *privs: str, any_of: bool = False) -> str:
    with pytest.raises(ApiError) as caught:
        access.check(caller, path, *privs, any_of=any_of)
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
    access = authority("/vms ann@pve Start")

    assert access.permissions(ANN_FULL_TOKEN, "/vms/100") == START


def test_a_separated_token_has_what_both_it_and_its_user_have() -> None:
    access = authority("/vms ann@pve Start", "/vms/100 ann@pve!narrow PVETemplateUser-")

    assert access.permissions(ANN_TOKEN, "/vms/100") == {"VM.Audit": False}


def test_a_separated_token_gains_nothing_from_the_groups_of_its_user() -> None:
    assert authority("/vms @staff Start").permissions(ANN_TOKEN, "/vms/100") == {}


def test_a_separated_token_keeps_what_pools_give_to_both() -> None:
    entries = ("/pool/web ann@pve Start", "/pool/web ann@pve!narrow Look")

    access = authority(*entries, pools={"web": {"/vms/100"}})

    assert access.permissions(ANN_TOKEN, "/vms/100") == {"VM.Audit": False}


def test_root_passes_everything() -> None:
    assert authority().permissions(ROOT, "/vms/100") == dict.fromkeys(EVERYTHING, True)


def test_a_separated_token_of_root_has_its_own_entries_and_no_more() -> None:
    access = authority("/vms root@pam!all Start")

    assert access.permissions(ROOT_TOKEN, "/vms/100") == START
    assert access.permissions(ROOT_TOKEN, "/nodes") == {}


def test_a_path_that_cannot_be_written_gives_nothing() -> None:
    assert authority("/ ann@pve Administrator").permissions(ANN, "") == {}


def test_a_very_deep_path_inherits_like_any_other() -> None:
    access = authority("/ ann@pve Look", "/vms @night Start")

    assert access.permissions(ANN, "/vms" + "/x" * 100_000) == LOOK


def test_a_privilege_that_the_profile_does_not_know_is_a_mistake_even_for_root() -> None:
    assert refusal(authority(), ROOT, "/", "VM.Monitor") == "500 invalid privilege 'VM.Monitor'"


PATHS = ["/", "/vms", "/vms/100", "/storage/fast", "/pool", "/pool/web", "/pool/web/deep", "/nodes"]
HOLDERS = ["ann@pve", "bob@pve", "@staff", "@night", "ann@pve!narrow", "root@pam!all"]
ROLES = ["Look", "Start", "PVEAuditor", "PVEAdmin", "NoAccess", "Administrator"]
CALLERS = [ANN, BOB, ANN_TOKEN, ANN_FULL_TOKEN, ROOT_TOKEN, ROOT]
MEMBERS = {"web": {"/vms/100"}, "web/deep": {"/storage/fast"}}

entry = st.tuples(
    st.sampled_from(PATHS), st.sampled_from(HOLDERS), st.sampled_from(ROLES), st.booleans()
).map(lambda found: f"{found[0]} {found[1]} {found[2]}{'' if found[3] else '-'}")
entries = st.lists(entry, max_size=8)


def with_entries(found: list[str]) -> Authority:
    authority = Authority(populated(), Pools(MEMBERS))
    for each in found:
        give(authority, each)
    return authority


def walked(state: AccessState, caller: Caller, path: str) -> dict[str, bool]:
    """The roles on a path, found by walking down from the root, level by level."""
    names = [name for name in path.split("/") if name]
    levels = ["/", *("/" + "/".join(names[: end + 1]) for end in range(len(names)))]
    roles: dict[str, bool] = {}
    for level in levels:
        node = state.acl.get(level)
        if node is None:
            continue
        own = (node.users if caller.tokenid is None else node.tokens).get(caller.authid, {})
        of_groups = {
            role: below
            for group in sorted(node.groups)
            if caller.tokenid is None and caller.userid in state.groups[group].members
            for role, below in node.groups[group].items()
        }
        for given_here in (own, of_groups):
            reaching = {r: below for r, below in given_here.items() if below or level == path}
            if reaching:
                roles = reaching
                break
    return {"NoAccess": roles["NoAccess"]} if "NoAccess" in roles else roles


@given(entries, st.sampled_from(PATHS))
def test_a_separated_token_never_has_more_than_its_user(found: list[str], path: str) -> None:
    authority = with_entries(found)

    of_user = authority.permissions(ANN, path)
    of_token = authority.permissions(ANN_TOKEN, path)

    assert set(of_token) <= set(of_user)
    assert all(of_user[priv] for priv, propagates in of_token.items() if propagates)


@given(entries, st.sampled_from(PATHS))
def test_a_token_without_separation_always_is_its_user(found: list[str], path: str) -> None:
    authority = with_entries(found)

    assert authority.permissions(ANN_FULL_TOKEN, path) == authority.permissions(ANN, path)


@given(entries, st.sampled_from(["/", "/vms", "/pool/web", "/pool/web/deep", "/nodes"]))
def test_roles_are_those_of_a_walk_from_the_root(found: list[str], path: str) -> None:
    authority = with_entries(found)
    expected: dict[str, bool] = {}
    for role, below in walked(authority.state, ANN, path).items():
        for priv in authority.state.role(role) or ():
            expected[priv] = expected.get(priv, False) or below

    assert authority.permissions(ANN, path) == expected


@given(entries, entries)
def test_remembered_answers_are_those_of_somebody_who_remembers_nothing(
    first: list[str], then: list[str]
) -> None:
    authority = with_entries(first)
    for caller in CALLERS:
        for path in PATHS:
            authority.permissions(caller, path)

    for each in then:
        give(authority, each)

    fresh = Authority(authority.state, authority.pools)
    for caller in CALLERS:
        for path in PATHS:
            assert authority.permissions(caller, path) == fresh.permissions(caller, path)


@given(entries)
def test_taking_all_entries_back_leaves_nothing_behind(found: list[str]) -> None:
    authority = with_entries(found)

    for path in PATHS:
        change_acl(
            authority,
            ROOT,
            AclChange(
                path=path,
                roles=ROLES,
                users=["ann@pve", "bob@pve"],
                groups=["staff", "night"],
                tokens=["ann@pve!narrow", "root@pam!all"],
                delete=True,
            ),
        )

    assert authority.state.acl == {}


def test_one_sees_oneself_and_ones_own_tokens() -> None:
    access = authority("/vms ann@pve Look")

    assert permissions_shown(access, ANN, None, None) == {"/vms": {"VM.Audit": 1}}
    assert permissions_shown(access, ANN, "ann@pve", None) == {"/vms": {"VM.Audit": 1}}
    assert permissions_shown(access, ANN, "ann@pve!full", None) == {"/vms": {"VM.Audit": 1}}
    assert permissions_shown(access, ANN, "ann@pve!narrow", None) == {}


def test_a_name_that_nobody_can_have_holds_nothing() -> None:
    assert permissions_shown(authority(), ROOT, "??", None) == {}
    assert permissions_shown(authority(), ROOT, "??", "/vms") == {"/vms": {}}


def test_a_page_offers_by_area() -> None:
    access = authority(
        "/ ann@pve PVEAuditor", "/pool/web ann@pve PVEAdmin", "/vms ann@pve Administrator"
    )

    offered = capabilities(access, ANN)

    assert offered["dc"] == {"SDN.Audit": 1, "Sys.Audit": 1}
    assert offered["nodes"] == {"Sys.Audit": 1}
    assert offered["mapping"] == {"Mapping.Audit": 1}
    assert offered["access"] == {}
    assert "Datastore.Allocate" in offered["storage"]
    assert "Permissions.Modify" in offered["vms"]
    assert "Permissions.Modify" not in offered["storage"]


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/access",
        "/access/groups",
        "/access/groups/staff",
        "/access/realm",
        "/access/realm/pve",
        "/nodes",
        "/nodes/pve1",
        "/pool",
        "/pool/a",
        "/pool/a/b",
        "/pool/a/b/c",
        "/sdn",
        "/sdn/controllers/evpn-1",
        "/sdn/dns/one",
        "/sdn/ipams/pve",
        "/sdn/zones",
        "/sdn/zones/localnetwork",
        "/sdn/zones/localnetwork/vmbr0",
        "/sdn/zones/localnetwork/vmbr0/62",
        "/storage",
        "/storage/local-zfs",
        "/vms",
        "/vms/100",
        "/mapping",
        "/mapping/pci",
        "/mapping/pci/gpu0",
    ],
)
def test_a_path_that_may_have_entries(path: str) -> None:
    assert all(is_valid(path, profile) for profile in Profile)


EIGHT = privileges(Profile.PVE_8_4)
NINE = privileges(Profile.PVE_9_1)


AUDIT = "Datastore.Audit Mapping.Audit Pool.Audit SDN.Audit Sys.Audit VM.Audit VM.GuestAgent.Audit"

AGENT = {
    "VM.GuestAgent.Audit",
    "VM.GuestAgent.FileRead",
    "VM.GuestAgent.FileSystemMgmt",
    "VM.GuestAgent.FileWrite",
    "VM.GuestAgent.Unrestricted",
}


def test_both_profiles_have_the_same_built_in_roles() -> None:
    assert list(EIGHT.roles) == list(NINE.roles)
    assert list(NINE.roles) == [
        "Administrator",
        "NoAccess",
        "PVEAdmin",
        "PVEAuditor",
        "PVEDatastoreAdmin",
        "PVEDatastoreUser",
        "PVEMappingAdmin",
        "PVEMappingUser",
        "PVEPoolAdmin",
        "PVEPoolUser",
        "PVESDNAdmin",
        "PVESDNUser",
        "PVESysAdmin",
        "PVETemplateUser",
        "PVEUserAdmin",
        "PVEVMAdmin",
        "PVEVMUser",
    ]


@pytest.mark.parametrize(
    ("role", "held"),
    [
        (
            "PVEAuditor",
            AUDIT,
        ),
        ("PVEDatastoreUser", "Datastore.AllocateSpace Datastore.Audit"),
        ("PVEMappingAdmin", "Mapping.Audit Mapping.Modify Mapping.Use"),
        ("PVEPoolUser", "Pool.Audit"),
        ("PVESDNUser", "SDN.Audit SDN.Use"),
        ("PVESysAdmin", "Sys.Audit Sys.Console Sys.Syslog"),
        ("PVETemplateUser", "VM.Audit VM.Clone"),
        ("PVEUserAdmin", "Group.Allocate Realm.AllocateUser User.Modify"),
    ],
)
def test_what_a_built_in_role_holds(role: str, held: str) -> None:
    assert sorted(NINE.roles[role]) == held.split()
