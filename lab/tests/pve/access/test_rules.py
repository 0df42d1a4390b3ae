"""The `permissions` blocks of the schema."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from stockman_lab.pve.access.identity import Caller
from stockman_lab.pve.access.permissions import Authority
from stockman_lab.pve.access.rules import compiled, refuse_token, rule
from stockman_lab.pve.access.tokens import TokenChange, update_token
from stockman_lab.pve.access.users import UserChange, create_user
from stockman_lab.pve.errors import ApiError

from lab.tests.pve.access.house import (
    ANN,
    ANN_FULL_TOKEN,
    ANN_TOKEN,
    BOB,
    ROOT,
    ROOT_TOKEN,
    authority,
)

PASSES = "passes"

AUDIT = {"check": ["perm", "/vms/{vmid}", ["VM.Audit"]]}
STORAGE = {
    "check": [
        "perm",
        "/storage/{storage}",
        ["Datastore.Audit", "Datastore.AllocateSpace"],
        "any",
        1,
    ]
}
CLONE = {
    "check": [
        "and",
        ["perm", "/vms/{vmid}", ["VM.Clone"]],
        [
            "or",
            ["perm", "/vms/{newid}", ["VM.Allocate"]],
            ["perm", "/pool/{pool}", ["VM.Allocate"], "require_param", "pool"],
        ],
    ]
}
DOWNLOAD = {
    "check": [
        "and",
        ["perm", "/storage/{storage}", ["Datastore.AllocateTemplate"]],
        [
            "or",
            ["perm", "/", ["Sys.Audit", "Sys.Modify"]],
            ["perm", "/nodes/{node}", ["Sys.AccessNetwork"]],
        ],
    ]
}
CREATE_USER = {
    "check": [
        "and",
        ["userid-param", "Realm.AllocateUser"],
        ["userid-group", ["User.Modify"], "groups_param", "create"],
    ]
}
UPDATE_USER = {"check": ["userid-group", ["User.Modify"], "groups_param", "update"]}
READ_USER = {"check": ["userid-group", ["User.Modify", "Sys.Audit"]]}
TOKENS = {"check": ["or", ["userid-param", "self"], ["userid-group", ["User.Modify"]]]}
PASSWORD = {
    "check": [
        "or",
        ["userid-param", "self"],
        ["and", ["userid-param", "Realm.AllocateUser"], ["userid-group", ["User.Modify"]]],
    ]
}
ACL = {"check": ["perm-modify", "{path}"]}


def answer(
    found: Authority,
    block: Mapping[str, object] | None,
    caller: Caller | None,
    params: Mapping[str, object] | None = None,
) -> str:
    try:
        rule(block)(found, caller, params or {})
    except ApiError as error:
        return f"{error.status} {error.message}"
    return PASSES


@pytest.mark.parametrize(
    ("block", "caller", "expected"),
    [
        (None, ROOT, PASSES),
        (None, ANN, "403 Permission check failed (user != root@pam)"),
        (None, ROOT_TOKEN, "403 Permission check failed (user != root@pam)"),
        (None, None, "403 Permission check failed (user != null)"),
        ({"user": "all"}, ANN, PASSES),
        ({"user": "all"}, ANN_TOKEN, PASSES),
        ({"user": "all"}, None, "403 Permission check failed (user != null)"),
        ({"user": "all", "check": ["perm", "/", ["Sys.Audit"]]}, ANN, PASSES),
        ({"user": "world"}, None, PASSES),
        ({"user": "world"}, ROOT, PASSES),
        ({"user": "world"}, ANN, "403 Permission check failed"),
        ({}, ANN, "403 Permission check failed"),
        ({}, ROOT, PASSES),
        (AUDIT, ROOT, PASSES),
        (AUDIT, None, "403 Permission check failed (user != null)"),
    ],
)
def test_who_passes_without_any_entry(
    block: Mapping[str, object] | None, caller: Caller | None, expected: str
) -> None:
    assert answer(authority(), block, caller, {"vmid": "100"}) == expected


def test_a_full_token_of_root_is_not_root() -> None:
    found = authority()
    update_token(found.state, ROOT_TOKEN, TokenChange(privsep=False))

    assert answer(found, AUDIT, ROOT_TOKEN, {"vmid": 100}) == PASSES
    assert answer(found, None, ROOT_TOKEN) == "403 Permission check failed (user != root@pam)"


@pytest.mark.parametrize(
    ("params", "expected"),
    [
        ({"vmid": "100"}, PASSES),
        ({"vmid": 100}, PASSES),
        ({"vmid": "101"}, "403 Permission check failed (/vms/101, VM.Audit)"),
        ({}, "403 Permission check failed (/vms/-, VM.Audit)"),
        ({"vmid": "0"}, "403 Permission check failed (/vms/-, VM.Audit)"),
        ({"vmid": "1 0"}, "403 Permission check failed (, VM.Audit)"),
        ({"vmid": "//100/"}, PASSES),
    ],
)
def test_a_path_is_filled_from_the_parameters(params: dict[str, object], expected: str) -> None:
    assert answer(authority("/vms/100 ann@pve Look"), AUDIT, ANN, params) == expected


def test_any_of_several_privileges() -> None:
    found = authority("/storage/fast ann@pve PVEAuditor")

    assert answer(found, STORAGE, ANN, {"storage": "fast"}) == PASSES
    assert (
        answer(found, STORAGE, ANN, {"storage": "slow"})
        == "403 Permission check failed (/storage/slow, Datastore.Audit|Datastore.AllocateSpace)"
    )


@pytest.mark.parametrize(
    ("entries", "params", "expected"),
    [
        ([], {}, "403 Permission check failed (/vms/100, VM.Clone)"),
        (["/vms/100 ann@pve PVEVMAdmin"], {}, "403 Permission check failed"),
        (["/vms ann@pve PVEVMAdmin"], {}, PASSES),
        (
            ["/vms/100 ann@pve PVEVMAdmin", "/pool/web ann@pve PVEVMAdmin"],
            {},
            "403 Permission check failed",
        ),
        (
            ["/vms/100 ann@pve PVEVMAdmin", "/pool/web ann@pve PVEVMAdmin"],
            {"pool": "web"},
            PASSES,
        ),
    ],
)
def test_cloning_into_a_pool_counts_only_if_a_pool_is_named(
    entries: list[str], params: dict[str, object], expected: str
) -> None:
    found = authority(*entries)

    assert answer(found, CLONE, ANN, {"vmid": "100", "newid": "101", **params}) == expected


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        ([], "403 Permission check failed (/storage/fast, Datastore.AllocateTemplate)"),
        (["/storage ann@pve PVEDatastoreAdmin"], "403 Permission check failed"),
        (["/storage ann@pve PVEDatastoreAdmin", "/nodes ann@pve Administrator"], PASSES),
        (["/ ann@pve Administrator"], PASSES),
    ],
)
def test_an_or_inside_an_and(entries: list[str], expected: str) -> None:
    params = {"storage": "fast", "node": "pve1"}

    assert answer(authority(*entries), DOWNLOAD, ANN, params) == expected


REALM = "/access/realm/pve ann@pve PVEUserAdmin"
GROUPS = "/access/groups ann@pve PVEUserAdmin"
NIGHT = "/access/groups/night ann@pve PVEUserAdmin"
STAFF = "/access/groups/staff ann@pve PVEUserAdmin"


@pytest.mark.parametrize(
    ("entries", "params", "expected"),
    [
        ([], {}, "403 Permission check failed (/access/realm/pve, Realm.AllocateUser)"),
        ([REALM], {}, "403 Permission check failed (/access/groups, User.Modify)"),
        ([REALM, GROUPS], {}, PASSES),
        ([REALM, NIGHT], {"groups": "night"}, PASSES),
        (
            [REALM, NIGHT],
            {"groups": "night,staff"},
            "403 Permission check failed (/access/groups/staff, User.Modify)",
        ),
        ([REALM, NIGHT], {"userid": "x"}, "500 user name 'x' is too short"),
        (
            [REALM, NIGHT],
            {"userid": "nobody"},
            "500 value 'nobody' does not look like a valid user name",
        ),
    ],
)
def test_who_may_create_a_user(
    entries: list[str], params: dict[str, object], expected: str
) -> None:
    found = authority(*entries)

    assert answer(found, CREATE_USER, ANN, {"userid": "new@pve", **params}) == expected


@pytest.mark.parametrize(
    ("entries", "params", "expected"),
    [
        ([], {}, "403 Permission check failed (/access/groups, User.Modify)"),
        ([GROUPS], {}, PASSES),
        ([GROUPS], {"userid": "eve@pve"}, "500 no such user ('eve@pve')"),
        ([STAFF], {"groups": "staff"}, PASSES),
        ([NIGHT], {"groups": "night"}, "403 Permission check failed"),
    ],
)
def test_who_may_update_a_user(
    entries: list[str], params: dict[str, object], expected: str
) -> None:
    found = authority(*entries)

    assert answer(found, UPDATE_USER, ANN, {"userid": "bob@pve", **params}) == expected


@pytest.mark.parametrize(
    ("entries", "userid", "expected"),
    [
        ([], "bob@pve", "403 Permission check failed"),
        ([STAFF], "bob@pve", PASSES),
        ([STAFF], "lone@pve", "403 Permission check failed"),
        ([STAFF], "eve@pve", "500 no such user ('eve@pve')"),
        (["/access/groups ann@pve PVEAuditor"], "lone@pve", PASSES),
    ],
)
def test_who_may_read_a_user(entries: list[str], userid: str, expected: str) -> None:
    found = authority(*entries)
    create_user(found.state, "lone@pve", UserChange())

    assert answer(found, READ_USER, ANN, {"userid": userid}) == expected


@pytest.mark.parametrize(
    ("entries", "caller", "userid", "expected"),
    [
        ([], ANN, "ann@pve", PASSES),
        ([], ANN_FULL_TOKEN, "ann@pve", "403 Permission check failed"),
        ([], BOB, "ann@pve", "403 Permission check failed"),
        ([GROUPS], ANN, "bob@pve", PASSES),
        ([GROUPS], ANN, "eve@pve", "403 Permission check failed"),
    ],
)
def test_tokens_belong_to_oneself_or_to_those_in_ones_care(
    entries: list[str], caller: Caller, userid: str, expected: str
) -> None:
    assert answer(authority(*entries), TOKENS, caller, {"userid": userid}) == expected


@pytest.mark.parametrize(
    ("entries", "userid", "expected"),
    [
        ([], "ann@pve", PASSES),
        ([], "bob@pve", "403 Permission check failed (/access/realm/pve, Realm.AllocateUser)"),
        ([REALM], "bob@pve", "403 Permission check failed"),
        ([REALM, STAFF], "bob@pve", PASSES),
        ([REALM, STAFF], "eve@pve", "500 no such user ('eve@pve')"),
    ],
)
def test_an_and_inside_an_or_tells_what_is_missing(
    entries: list[str], userid: str, expected: str
) -> None:
    assert answer(authority(*entries), PASSWORD, ANN, {"userid": userid}) == expected


def test_oneself_alone_is_a_bare_refusal() -> None:
    block = {"check": ["userid-param", "self"]}

    assert answer(authority(), block, ANN, {"userid": "bob@pve"}) == "403 Permission check failed"
    assert answer(authority(), block, ANN, {"userid": "eve@pve"}) == "500 no such user ('eve@pve')"


def test_a_required_parameter_alone_is_a_bare_refusal() -> None:
    block = {"check": ["perm", "/pool/{pool}", ["VM.Allocate"], "require_param", "pool"]}

    assert answer(authority(), block, ANN) == "403 Permission check failed"


@pytest.mark.parametrize(
    ("entries", "path", "expected"),
    [
        ([], "/", "403 Permission check failed (/, Permissions.Modify)"),
        ([], "/vms/100", "403 Permission check failed (/vms/100, Permissions.Modify|VM.Allocate)"),
        (
            [],
            "/storage/x",
            "403 Permission check failed (/storage/x, Permissions.Modify|Datastore.Allocate)",
        ),
        ([], "pool//a", "403 Permission check failed (/pool/a, Permissions.Modify|Pool.Allocate)"),
        (["/ ann@pve Administrator"], "/", PASSES),
        (["/vms ann@pve PVEVMAdmin"], "/vms/100", PASSES),
        (
            ["/vms ann@pve PVEVMAdmin"],
            "/vms",
            "403 Permission check failed (/vms, Permissions.Modify)",
        ),
        ([], "/not a path", PASSES),
    ],
)
def test_who_may_change_entries(entries: list[str], path: str, expected: str) -> None:
    assert answer(authority(*entries), ACL, ANN, {"path": path}) == expected


def test_some_endpoints_want_a_ticket() -> None:
    with pytest.raises(ApiError) as caught:
        refuse_token("/access/password")

    assert caught.value.status == 403
    assert caught.value.message.splitlines()[0] == (
        "Permission check failed"
        " (URI '/access/password' not available with API token, need proper ticket."
    )


@pytest.mark.parametrize(
    "expression", [["perhaps", "/"], [], "perm", ["userid-param", "other"], ["perm", "/"]]
)
def test_an_unknown_check_is_found_when_it_is_made_ready(expression: object) -> None:
    with pytest.raises(ValueError, match="no such check"):
        compiled(expression)
