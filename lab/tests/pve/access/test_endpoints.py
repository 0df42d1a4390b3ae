"""The endpoints below `/access`, asked with parameters as they come."""

from __future__ import annotations

import pytest
from stockman_lab.pve.access.endpoints import ENDPOINTS, AccessCall
from stockman_lab.pve.access.identity import Caller
from stockman_lab.pve.access.permissions import Authority
from stockman_lab.pve.access.privileges import Profile
from stockman_lab.pve.access.state import fresh_access
from stockman_lab.pve.access.tickets import ticket_user
from stockman_lab.pve.errors import ApiError

from lab.tests.pve.access.house import NOW, ROOT, dice


class Door:
    """A fresh cluster, asked by method and path of the schema."""

    def __init__(self) -> None:
        self.authority = Authority(fresh_access(Profile.PVE_9_1, dice()))
        self._dice = dice(7)

    def ask(self, request: str, caller: Caller = ROOT, **params: object) -> object:
        method, path = request.split()
        named = {name.replace("_", "-"): value for name, value in params.items()}
        call = AccessCall(self.authority, caller, named, NOW, self._dice, "home")
        return ENDPOINTS[method, path](call)


USER = "/access/users/{userid}"
TOKEN = f"{USER}/token/{{tokenid}}"


def test_a_role_a_user_a_token_and_an_entry_make_a_working_account() -> None:
    door = Door()

    door.ask("POST /access/roles", roleid="Keeper", privs="VM.Audit,VM.PowerMgmt")
    door.ask("POST /access/groups", groupid="ops", comment="operators")
    door.ask("POST /access/users", userid="ci@pve", groups="ops", password="sesame street")
    made = door.ask(f"POST {TOKEN}", userid="ci@pve", tokenid="build", privsep="0")
    door.ask("PUT /access/acl", path="/vms", roles="Keeper", groups="ops", propagate="1")

    assert isinstance(made, dict)
    assert made["full-tokenid"] == "ci@pve!build"
    assert made["info"] == {"privsep": "0"}
    assert door.ask("GET /access/permissions", userid="ci@pve!build") == {
        "/vms": {"VM.Audit": 1, "VM.PowerMgmt": 1}
    }
    assert door.ask(f"GET {USER}", userid="ci@pve") == {
        "enable": 1,
        "expire": 0,
        "groups": ["ops"],
        "tokens": {"build": {"expire": 0, "privsep": 0}},
    }


def test_everything_made_can_be_changed_and_taken_away() -> None:
    door = Door()
    before = repr(door.authority.state)
    door.ask("POST /access/roles", roleid="Keeper", privs="VM.Audit")
    door.ask("POST /access/groups", groupid="ops")
    door.ask("POST /access/users", userid="ci@pve")
    door.ask(f"POST {TOKEN}", userid="ci@pve", tokenid="build")
    door.ask("PUT /access/acl", path="/", roles="Keeper", tokens="ci@pve!build", propagate=False)

    door.ask("PUT /access/roles/{roleid}", roleid="Keeper", privs="VM.Clone", append=1)
    door.ask("PUT /access/groups/{groupid}", groupid="ops", comment="operators")
    door.ask(f"PUT {USER}", userid="ci@pve", enable=0, groups="ops", append=1)
    door.ask(f"PUT {TOKEN}", userid="ci@pve", tokenid="build", expire="9", delete="comment")

    assert door.ask("GET /access/roles/{roleid}", roleid="Keeper") == {"VM.Audit": 1, "VM.Clone": 1}
    assert door.ask("GET /access/groups") == [
        {"groupid": "ops", "comment": "operators", "users": "ci@pve"}
    ]
    assert door.ask("GET /access/groups/{groupid}", groupid="ops") == {
        "members": ["ci@pve"],
        "comment": "operators",
    }
    assert door.ask(f"GET {TOKEN}", userid="ci@pve", tokenid="build") == {"expire": 9, "privsep": 1}
    assert door.ask(f"GET {USER}/token", userid="ci@pve") == [
        {"tokenid": "build", "expire": 9, "privsep": 1}
    ]
    assert door.ask("GET /access/acl") == [
        {
            "path": "/",
            "type": "token",
            "ugid": "ci@pve!build",
            "roleid": "Keeper",
            "propagate": 0,
        }
    ]

    door.ask("PUT /access/acl", path="/", roles="Keeper", tokens="ci@pve!build", delete="1")
    door.ask(f"DELETE {TOKEN}", userid="ci@pve", tokenid="build")
    door.ask(f"DELETE {USER}", userid="ci@pve")
    door.ask("DELETE /access/groups/{groupid}", groupid="ops")
    door.ask("DELETE /access/roles/{roleid}", roleid="Keeper")

    door.authority.state.version = 0
    assert repr(door.authority.state) == before


@pytest.mark.parametrize(
    "request_line",
    [line for line in ENDPOINTS if line[0] in ("PUT", "POST", "DELETE")],
    ids=" ".join,
)
def test_a_change_without_parameters_is_refused(request_line: tuple[str, str]) -> None:
    with pytest.raises(ApiError) as caught:
        Door().ask(" ".join(request_line))

    assert caught.value.status == 400
    assert set(caught.value.errors.values()) == {"property is missing and it is not optional"}


def test_a_login_with_the_realm_apart() -> None:
    door = Door()
    door.ask("POST /access/users", userid="ann@pve", password="sesame street")

    reply = door.ask("POST /access/ticket", username="ann", realm="pve", password="sesame street")

    assert isinstance(reply, dict)
    assert reply["username"] == "ann@pve"
    assert ticket_user(door.authority.state.ticket_key, reply["ticket"], NOW) == "ann@pve"
    assert "clustername" not in reply


def test_a_login_that_only_asks_for_privileges() -> None:
    door = Door()
    door.ask("PUT /access/password", userid="root@pam", password="sesame street")

    reply = door.ask(
        "POST /access/ticket",
        username="root@pam",
        password="sesame street",
        path="/vms",
        privs="VM.Audit",
    )

    assert isinstance(reply, dict)
    assert "ticket" not in reply
    assert reply["clustername"] == "home"


def test_a_second_factor_fits_nobody() -> None:
    door = Door()
    door.ask("PUT /access/password", userid="root@pam", password="sesame street")

    with pytest.raises(ApiError, match=r"^authentication failure$"):
        door.ask("POST /access/ticket", username="root@pam", password="sesame street", otp="123456")
    with pytest.raises(ApiError, match=r"^authentication failure$"):
        door.ask(
            "POST /access/ticket", username="root@pam", password="sesame street", tfa_challenge="x"
        )


def test_realms_are_shown_and_changed() -> None:
    door = Door()

    door.ask("PUT /access/domains/{realm}", realm="pve", comment="ours", default="1")

    assert door.ask("GET /access/domains") == [
        {"realm": "pam", "type": "pam", "comment": "Linux PAM standard authentication"},
        {"realm": "pve", "type": "pve", "comment": "ours", "default": 1},
    ]
    info = door.ask("GET /access/domains/{realm}", realm="pve")
    assert isinstance(info, dict)
    assert info["comment"] == "ours"
    with pytest.raises(ApiError, match="unexpected property 'server1'"):
        door.ask("PUT /access/domains/{realm}", realm="pve", server1="ldap.example.com")


def test_the_index_and_the_dummy() -> None:
    door = Door()

    index = door.ask("GET /access")

    assert isinstance(index, list)
    assert {"subdir": "users"} in index
    assert door.ask("GET /access/ticket") is None


def test_users_are_listed_by_choice() -> None:
    door = Door()
    door.ask("POST /access/users", userid="ann@pve", enable="0")

    rows = door.ask("GET /access/users", enabled="0", full="1")

    assert rows == [
        {
            "userid": "ann@pve",
            "enable": 0,
            "expire": 0,
            "groups": "",
            "tokens": None,
            "realm-type": "pve",
        }
    ]


def test_roles_are_listed() -> None:
    rows = Door().ask("GET /access/roles")

    assert isinstance(rows, list)
    assert len(rows) == 17
