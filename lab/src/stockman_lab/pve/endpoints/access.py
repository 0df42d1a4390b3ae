"""`/access`: users, groups, roles, tokens, permissions and tickets."""

from __future__ import annotations

from collections.abc import Callable

from stockman_lab.pve.access.accounts import (
    TokenChange,
    UserChange,
    create_group,
    create_role,
    create_token,
    create_user,
    delete_group,
    delete_role,
    delete_token,
    delete_user,
    group_info,
    group_rows,
    role_info,
    role_rows,
    token_info,
    token_rows,
    update_group,
    update_role,
    update_token,
    update_user,
    user_info,
    user_rows,
)
from stockman_lab.pve.access.acl import AclChange, acl_rows, change_acl
from stockman_lab.pve.access.identity import Caller, existing_token, split_userid
from stockman_lab.pve.access.login import Login, log_in, scramble
from stockman_lab.pve.access.parameters import flag, listed, number, text
from stockman_lab.pve.access.permissions import permissions_shown
from stockman_lab.pve.access.state import AccessState, Realm
from stockman_lab.pve.api.call import Call
from stockman_lab.pve.api.registry import endpoint


def realm_rows(state: AccessState) -> list[dict[str, object]]:
    """All realms, as the login page shows them to everybody."""
    return [_realm_row(name, realm) for name, realm in sorted(state.realms.items())]


def _realm_row(name: str, realm: Realm) -> dict[str, object]:
    row: dict[str, object] = {"realm": name, "type": realm.kind, "comment": realm.comment}
    if realm.default:
        row["default"] = 1
    return row


_USER = "/access/users/{userid}"
_TOKEN = f"{_USER}/token/{{tokenid}}"
_GROUP = "/access/groups/{groupid}"
_ROLE = "/access/roles/{roleid}"


def _state_to_change(call: Call) -> AccessState:
    call.cluster.require_quorum("file-user_cfg")
    return call.authority.state


@endpoint("GET", "/access/users")
def list_users(call: Call) -> object:
    return user_rows(
        call.authority, call.caller, full=call.flag("full"), enabled=flag(call.params, "enabled")
    )


@endpoint("POST", "/access/users")
def post_user(call: Call) -> object:
    state, password = _state_to_change(call), text(call.params, "password")
    random_bytes = call.cluster.around.dice.random_bytes
    stored = None if password is None else scramble(password, random_bytes)
    create_user(state, call.text("userid"), _user_change(call), stored)
    return None


@endpoint("PUT", _USER)
def put_user(call: Call) -> object:
    update_user(_state_to_change(call), call.text("userid"), _user_change(call))
    return None


def _user_change(call: Call) -> UserChange:
    params = call.params
    return UserChange(
        enable=flag(params, "enable"),
        expire=number(params, "expire"),
        firstname=text(params, "firstname"),
        lastname=text(params, "lastname"),
        email=text(params, "email"),
        comment=text(params, "comment"),
        keys=text(params, "keys"),
        groups=None if text(params, "groups") is None else listed(params, "groups"),
        append=call.flag("append"),
    )


@endpoint("GET", f"{_USER}/token")
def list_tokens(call: Call) -> object:
    return token_rows(call.authority.state, call.text("userid"))


@endpoint("GET", _TOKEN)
def get_token(call: Call) -> object:
    token = _token(call)
    return token_info(existing_token(call.authority.state, token.userid, token.tokenid or ""))


@endpoint("POST", _TOKEN)
def post_token(call: Call) -> object:
    random_bytes = call.cluster.around.dice.random_bytes
    return create_token(_state_to_change(call), _token(call), _token_change(call), random_bytes)


@endpoint("PUT", _TOKEN)
def put_token(call: Call) -> object:
    return update_token(_state_to_change(call), _token(call), _token_change(call))


@endpoint("DELETE", _TOKEN)
def remove_token(call: Call) -> object:
    delete_token(_state_to_change(call), _token(call))
    return None


def _token(call: Call) -> Caller:
    split_userid(call.text("userid"))
    return Caller(call.text("userid"), call.text("tokenid"))


def _token_change(call: Call) -> TokenChange:
    return TokenChange(
        privsep=flag(call.params, "privsep"),
        expire=number(call.params, "expire"),
        comment=text(call.params, "comment"),
        delete=listed(call.params, "delete"),
    )


@endpoint("GET", "/access/groups")
def list_groups(call: Call) -> object:
    return group_rows(call.authority, call.caller)


@endpoint("POST", "/access/groups")
def post_group(call: Call) -> object:
    create_group(_state_to_change(call), call.text("groupid"), text(call.params, "comment"))
    return None


@endpoint("PUT", _GROUP)
def put_group(call: Call) -> object:
    update_group(_state_to_change(call), call.text("groupid"), text(call.params, "comment"))
    return None


@endpoint("GET", "/access/roles")
def list_roles(call: Call) -> object:
    return role_rows(call.authority.state)


@endpoint("POST", "/access/roles")
def post_role(call: Call) -> object:
    create_role(_state_to_change(call), call.text("roleid"), listed(call.params, "privs"))
    return None


@endpoint("PUT", _ROLE)
def put_role(call: Call) -> object:
    update_role(
        _state_to_change(call),
        call.text("roleid"),
        listed(call.params, "privs"),
        append=call.flag("append"),
    )
    return None


def _read_or_delete(
    path: str,
    read: Callable[[AccessState, str], object],
    delete: Callable[[AccessState, str], None],
) -> None:
    name = path.rpartition("{")[2].removesuffix("}")

    def get(call: Call) -> object:
        return read(call.authority.state, call.text(name))

    def remove(call: Call) -> object:
        delete(_state_to_change(call), call.text(name))
        return None

    endpoint("GET", path)(get)
    endpoint("DELETE", path)(remove)


_read_or_delete(_USER, user_info, delete_user)
_read_or_delete(_GROUP, group_info, delete_group)
_read_or_delete(_ROLE, role_info, delete_role)


@endpoint("GET", "/access/acl")
def get_acl(call: Call) -> object:
    return acl_rows(call.authority, call.caller)


@endpoint("PUT", "/access/acl")
def put_acl(call: Call) -> object:
    _state_to_change(call)
    change = AclChange(
        path=call.text("path"),
        roles=listed(call.params, "roles"),
        users=listed(call.params, "users"),
        groups=listed(call.params, "groups"),
        tokens=listed(call.params, "tokens"),
        propagate=call.flag("propagate", default=True),
        delete=call.flag("delete"),
    )
    change_acl(call.authority, call.caller, change)
    return None


@endpoint("GET", "/access/permissions")
def get_permissions(call: Call) -> object:
    userid, path = text(call.params, "userid"), text(call.params, "path")
    return permissions_shown(call.authority, call.caller, userid, path)


@endpoint("GET", "/access/domains")
def list_realms(call: Call) -> object:
    return realm_rows(call.authority.state)


@endpoint("GET", "/access/ticket")
def get_ticket(call: Call) -> object:
    del call
    return None


@endpoint("POST", "/access/ticket")
def post_ticket(call: Call) -> object:
    state, realm, username = call.cluster.state, call.text("realm"), call.text("username")
    asks = bool(call.text("path") and call.text("privs"))
    login = Login(
        username=f"{username}@{realm}" if realm else username,
        password=call.text("password"),
        second_factor=call.has("otp"),
        challenged=call.has("tfa-challenge"),
        path=call.text("path") if asks else None,
        privs=listed(call.params, "privs"),
    )
    return log_in(call.authority, login, call.now, state.name if state.is_clustered else None)
