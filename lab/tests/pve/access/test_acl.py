"""The access control list."""

from __future__ import annotations

import pytest
from stockman_lab.pve.access.acl import AclChange, acl_rows, change_acl, forget_pool
from stockman_lab.pve.access.identity import Caller
from stockman_lab.pve.access.permissions import Authority
from stockman_lab.pve.errors import ApiError

from lab.tests.pve.access.populated_access import ANN, ROOT, authority


def refused(access: Authority, caller: Caller, change: AclChange) -> str:
    before = repr(access.state.acl)
    with pytest.raises(ApiError) as caught:
        change_acl(access, caller, change)
    assert repr(access.state.acl) == before
    return f"{caught.value.status} {caught.value.message}"


def test_an_entry_given_twice_is_there_once_with_the_last_reach() -> None:
    access = authority("/vms ann@pve Look", "/vms ann@pve Look-")

    assert [row["propagate"] for row in acl_rows(access, ROOT)] == [0]


@pytest.mark.parametrize("path", ["/vm", "/vms/1", "/no/such/place", "/a b", ""])
def test_an_invalid_path(path: str) -> None:
    with pytest.raises(ApiError) as caught:
        change_acl(authority(), ROOT, AclChange(path=path, roles=["Look"], users=["ann@pve"]))

    assert caught.value.status == 400
    assert caught.value.errors == {"path": f"invalid ACL path '{path}'"}


def test_somebody_has_to_be_named() -> None:
    with pytest.raises(ApiError) as caught:
        change_acl(authority(), ROOT, AclChange(path="/vms", roles=["Look"]))

    wrong = "either 'users', 'groups' or 'tokens' is required."
    assert caught.value.errors == {"users": wrong, "groups": wrong, "tokens": wrong}


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (AclChange(path="/", roles=["Gone"], users=["ann@pve"]), "role 'Gone' does not exist"),
        (AclChange(path="/", roles=["Look"], users=["eve@pve"]), "user 'eve@pve' does not exist"),
        (AclChange(path="/", roles=["Look"], groups=["moon"]), "group 'moon' does not exist"),
        (
            AclChange(path="/", roles=["Look"], tokens=["ann@pve!gone"]),
            "no such token 'gone' for user 'ann@pve'",
        ),
        (AclChange(path="/", roles=["Look"], tokens=["eve@pve!gone"]), "no such user ('eve@pve')"),
        (
            AclChange(path="/", roles=["Look"], users=["ann@pve", "eve@pve"]),
            "user 'eve@pve' does not exist",
        ),
        (
            AclChange(path="/", roles=["Look"], users=["eve"]),
            "value 'eve' does not look like a valid user name",
        ),
        (
            AclChange(path="/", roles=["Look"], tokens=["ann@pve"]),
            "'ann@pve' is not a valid token ID - not able to split into user and token parts",
        ),
    ],
)
def test_who_or_what_does_not_exist_gets_nothing(change: AclChange, why: str) -> None:
    assert refused(authority(), ROOT, change) == f"500 ACL update failed: {why}"


SUPERSET = "requires 'Permissions.Modify' or superset of privileges."
PROPAGATED = "requires 'Permissions.Modify' or propagated superset of privileges."
BAD = "500 ACL update failed: 400 Parameter verification failed.\nrole: "


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (
            AclChange(path="/vms/100", roles=["PVEAuditor"], users=["bob@pve"]),
            f"Cannot add role 'PVEAuditor' - {SUPERSET}",
        ),
        (
            AclChange(path="/vms/100", roles=["PVEAuditor"], users=["bob@pve"], delete=True),
            f"Cannot remove role 'PVEAuditor' - {SUPERSET}",
        ),
        (
            AclChange(path="/vms/100", roles=["Look"], users=["bob@pve"]),
            f"Cannot add role 'Look' with propagation - {PROPAGATED}",
        ),
        (
            AclChange(path="/vms/100", roles=["NoAccess"], users=["bob@pve"]),
            "Cannot add role 'NoAccess' - requires 'Permissions.Modify'",
        ),
    ],
)
def test_who_only_allocates_cannot_hand_out_more_than_they_hold(
    change: AclChange, why: str
) -> None:
    access = authority("/vms/100 ann@pve PVEVMAdmin-")

    assert refused(access, ANN, change) == f"{BAD}{why}"


def test_a_pool_that_is_gone_takes_its_entries_along_unless_it_was_nested() -> None:
    access = authority("/pool/web ann@pve Look", "/pool/outer/inner ann@pve Look")

    forget_pool(access.state, "web")
    forget_pool(access.state, "outer/inner")

    assert list(access.state.acl) == ["/pool/outer/inner"]
