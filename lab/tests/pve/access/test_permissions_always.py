"""What holds for permissions whatever the entries are."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from stockman_lab.pve.access.acl import AclChange, change_acl
from stockman_lab.pve.access.identity import Caller
from stockman_lab.pve.access.permissions import Authority
from stockman_lab.pve.access.state import AccessState

from lab.tests.pve.access.house import (
    ANN,
    ANN_FULL_TOKEN,
    ANN_TOKEN,
    BOB,
    ROOT,
    ROOT_TOKEN,
    Pools,
    give,
    populated,
)

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
