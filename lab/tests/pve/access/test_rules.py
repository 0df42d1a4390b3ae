"""What the schema demands of who calls, and values of parameters."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from stockman_lab.pve.access.identity import Caller
from stockman_lab.pve.access.parameters import number, text
from stockman_lab.pve.access.permissions import Authority
from stockman_lab.pve.access.rules import rule
from stockman_lab.pve.errors import ApiError

from lab.tests.pve.access.populated_access import (
    ANN,
    ANN_TOKEN,
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
UPDATE_USER = {"check": ["userid-group", ["User.Modify"], "groups_param", "update"]}
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
    access: Authority,
    block: Mapping[str, object] | None,
    caller: Caller | None,
    params: Mapping[str, object] | None = None,
) -> str:
    try:
        rule(block)(access, caller, params or {})
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


REALM = "/access/realm/pve ann@pve PVEUserAdmin"
GROUPS = "/access/groups ann@pve PVEUserAdmin"
NIGHT = "/access/groups/night ann@pve PVEUserAdmin"
STAFF = "/access/groups/staff ann@pve PVEUserAdmin"


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
    access = authority(*entries)

    assert answer(access, UPDATE_USER, ANN, {"userid": "bob@pve", **params}) == expected


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


@pytest.mark.parametrize(
    ("value", "found"),
    [("x", "x"), (7, "7"), (True, "1"), (False, "0"), (["a", 7], "a,7"), (None, None), ("", "")],
)
def test_a_value_as_text(value: object, found: str | None) -> None:
    assert text({"x": value}, "x") == found


def test_a_value_as_number() -> None:
    assert number({"x": "42"}, "x") == 42
    with pytest.raises(ApiError) as caught:
        number({"x": "many"}, "x")
    assert caught.value.errors == {"x": "type check ('integer') failed - got 'many'"}
