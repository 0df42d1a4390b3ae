"""The endpoints below `/access`: from parameters to data.

The rules of the schema have been enforced and the parameters verified before any of them is called.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from stockman_lab.pve.access.acl import AclChange, acl_rows, change_acl
from stockman_lab.pve.access.groups import (
    create_group,
    delete_group,
    group_info,
    group_rows,
    update_group,
)
from stockman_lab.pve.access.identity import Caller, split_userid
from stockman_lab.pve.access.login import Login, log_in
from stockman_lab.pve.access.lookups import existing_token
from stockman_lab.pve.access.overview import permissions_shown
from stockman_lab.pve.access.parameters import Params, flag, listed, number, required, text
from stockman_lab.pve.access.passwords import PasswordChange, change_password, scrambled
from stockman_lab.pve.access.permissions import Authority
from stockman_lab.pve.access.realms import RealmChange, realm_info, realm_rows, update_realm
from stockman_lab.pve.access.roles import (
    create_role,
    delete_role,
    role_info,
    role_rows,
    update_role,
)
from stockman_lab.pve.access.state import AccessState, RandomBytes
from stockman_lab.pve.access.tokens import (
    TokenChange,
    create_token,
    delete_token,
    token_info,
    token_rows,
    update_token,
)
from stockman_lab.pve.access.users import (
    UserChange,
    create_user,
    delete_user,
    update_user,
    user_info,
    user_rows,
)


@dataclass(frozen=True, slots=True)
class AccessCall:
    """One request: who asks whom for what, and when."""

    authority: Authority
    caller: Caller
    """Where nobody has to log in, it does not matter who this is."""
    params: Params
    now: float
    """Seconds since the epoch."""
    random_bytes: RandomBytes
    cluster_name: str | None = None
    """None: a host that has not joined a cluster."""

    @property
    def state(self) -> AccessState:
        """The state that the authority speaks for."""
        return self.authority.state


Endpoint = Callable[[AccessCall], object]

_SUBDIRS = ("users", "groups", "roles", "acl", "domains", "openid", "tfa", "ticket", "password")
_SETTINGS_OF_BUILT_IN_REALMS = {"realm", "comment", "default", "tfa", "delete", "digest"}


def _index(call: AccessCall) -> object:
    return [{"subdir": name} for name in _SUBDIRS]


def _list_users(call: AccessCall) -> object:
    return user_rows(
        call.authority,
        call.caller,
        full=flag(call.params, "full") or False,
        enabled=flag(call.params, "enabled"),
    )


def _create_user(call: AccessCall) -> object:
    password = text(call.params, "password")
    scramble = None if password is None else scrambled(password, call.random_bytes)
    create_user(call.state, required(call.params, "userid"), _user_change(call.params), scramble)
    return None


def _read_user(call: AccessCall) -> object:
    return user_info(call.state, required(call.params, "userid"))


def _update_user(call: AccessCall) -> object:
    update_user(call.state, required(call.params, "userid"), _user_change(call.params))
    return None


def _delete_user(call: AccessCall) -> object:
    delete_user(call.state, required(call.params, "userid"))
    return None


def _user_change(params: Params) -> UserChange:
    return UserChange(
        enable=flag(params, "enable"),
        expire=number(params, "expire"),
        firstname=text(params, "firstname"),
        lastname=text(params, "lastname"),
        email=text(params, "email"),
        comment=text(params, "comment"),
        keys=text(params, "keys"),
        groups=None if text(params, "groups") is None else listed(params, "groups"),
        append=flag(params, "append") or False,
    )


def _list_tokens(call: AccessCall) -> object:
    return token_rows(call.state, required(call.params, "userid"))


def _create_token(call: AccessCall) -> object:
    return create_token(
        call.state, _token(call.params), _token_change(call.params), call.random_bytes
    )


def _read_token(call: AccessCall) -> object:
    token = _token(call.params)
    return token_info(existing_token(call.state, token.userid, token.tokenid or ""))


def _update_token(call: AccessCall) -> object:
    return update_token(call.state, _token(call.params), _token_change(call.params))


def _delete_token(call: AccessCall) -> object:
    delete_token(call.state, _token(call.params))
    return None


def _token(params: Params) -> Caller:
    userid = required(params, "userid")
    split_userid(userid)
    return Caller(userid, required(params, "tokenid"))


def _token_change(params: Params) -> TokenChange:
    return TokenChange(
        privsep=flag(params, "privsep"),
        expire=number(params, "expire"),
        comment=text(params, "comment"),
        delete=listed(params, "delete"),
    )


def _list_groups(call: AccessCall) -> object:
    return group_rows(call.authority, call.caller)


def _create_group(call: AccessCall) -> object:
    create_group(call.state, required(call.params, "groupid"), text(call.params, "comment"))
    return None


def _read_group(call: AccessCall) -> object:
    return group_info(call.state, required(call.params, "groupid"))


def _update_group(call: AccessCall) -> object:
    update_group(call.state, required(call.params, "groupid"), text(call.params, "comment"))
    return None


def _delete_group(call: AccessCall) -> object:
    delete_group(call.state, required(call.params, "groupid"))
    return None


def _list_roles(call: AccessCall) -> object:
    return role_rows(call.state)


def _create_role(call: AccessCall) -> object:
    create_role(call.state, required(call.params, "roleid"), listed(call.params, "privs"))
    return None


def _read_role(call: AccessCall) -> object:
    return role_info(call.state, required(call.params, "roleid"))


def _update_role(call: AccessCall) -> object:
    append = flag(call.params, "append") or False
    update_role(
        call.state,
        required(call.params, "roleid"),
        listed(call.params, "privs"),
        append=append,
    )
    return None


def _delete_role(call: AccessCall) -> object:
    delete_role(call.state, required(call.params, "roleid"))
    return None


def _read_acl(call: AccessCall) -> object:
    return acl_rows(call.authority, call.caller)


def _update_acl(call: AccessCall) -> object:
    propagate = flag(call.params, "propagate")
    change = AclChange(
        path=required(call.params, "path"),
        roles=listed(call.params, "roles"),
        users=listed(call.params, "users"),
        groups=listed(call.params, "groups"),
        tokens=listed(call.params, "tokens"),
        propagate=True if propagate is None else propagate,
        delete=flag(call.params, "delete") or False,
    )
    change_acl(call.authority, call.caller, change)
    return None


def _permissions(call: AccessCall) -> object:
    return permissions_shown(
        call.authority, call.caller, text(call.params, "userid"), text(call.params, "path")
    )


def _list_realms(call: AccessCall) -> object:
    return realm_rows(call.state)


def _read_realm(call: AccessCall) -> object:
    return realm_info(call.state, required(call.params, "realm"))


def _update_realm(call: AccessCall) -> object:
    change = RealmChange(
        comment=text(call.params, "comment"),
        default=flag(call.params, "default"),
        tfa=text(call.params, "tfa"),
        unexpected=sorted(set(call.params) - _SETTINGS_OF_BUILT_IN_REALMS),
        delete=listed(call.params, "delete"),
        digest=text(call.params, "digest"),
    )
    update_realm(call.state, required(call.params, "realm"), change)
    return None


def _get_ticket(call: AccessCall) -> object:
    return None


def _create_ticket(call: AccessCall) -> object:
    realm = text(call.params, "realm")
    username = required(call.params, "username")
    asks = bool(text(call.params, "path") and text(call.params, "privs"))
    login = Login(
        username=f"{username}@{realm}" if realm else username,
        password=required(call.params, "password"),
        second_factor=text(call.params, "otp") is not None,
        challenged=text(call.params, "tfa-challenge") is not None,
        path=text(call.params, "path") if asks else None,
        privs=listed(call.params, "privs"),
    )
    return log_in(call.authority, login, call.now, call.cluster_name)


def _change_password(call: AccessCall) -> object:
    change = PasswordChange(
        userid=required(call.params, "userid"),
        password=scrambled(required(call.params, "password"), call.random_bytes),
        confirmation=text(call.params, "confirmation-password"),
    )
    change_password(call.authority, call.caller, change, call.now)
    return None


ENDPOINTS: Mapping[tuple[str, str], Endpoint] = {
    ("GET", "/access"): _index,
    ("GET", "/access/users"): _list_users,
    ("POST", "/access/users"): _create_user,
    ("GET", "/access/users/{userid}"): _read_user,
    ("PUT", "/access/users/{userid}"): _update_user,
    ("DELETE", "/access/users/{userid}"): _delete_user,
    ("GET", "/access/users/{userid}/token"): _list_tokens,
    ("POST", "/access/users/{userid}/token/{tokenid}"): _create_token,
    ("GET", "/access/users/{userid}/token/{tokenid}"): _read_token,
    ("PUT", "/access/users/{userid}/token/{tokenid}"): _update_token,
    ("DELETE", "/access/users/{userid}/token/{tokenid}"): _delete_token,
    ("GET", "/access/groups"): _list_groups,
    ("POST", "/access/groups"): _create_group,
    ("GET", "/access/groups/{groupid}"): _read_group,
    ("PUT", "/access/groups/{groupid}"): _update_group,
    ("DELETE", "/access/groups/{groupid}"): _delete_group,
    ("GET", "/access/roles"): _list_roles,
    ("POST", "/access/roles"): _create_role,
    ("GET", "/access/roles/{roleid}"): _read_role,
    ("PUT", "/access/roles/{roleid}"): _update_role,
    ("DELETE", "/access/roles/{roleid}"): _delete_role,
    ("GET", "/access/acl"): _read_acl,
    ("PUT", "/access/acl"): _update_acl,
    ("GET", "/access/permissions"): _permissions,
    ("GET", "/access/domains"): _list_realms,
    ("GET", "/access/domains/{realm}"): _read_realm,
    ("PUT", "/access/domains/{realm}"): _update_realm,
    ("GET", "/access/ticket"): _get_ticket,
    ("POST", "/access/ticket"): _create_ticket,
    ("PUT", "/access/password"): _change_password,
}
"""What is bound to which method and path of the schema."""
