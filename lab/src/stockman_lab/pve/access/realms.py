"""Realms: the two that every cluster has."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass

from stockman_lab.pve.access.failing import failing
from stockman_lab.pve.access.state import AccessState, Realm
from stockman_lab.pve.errors import die

_TFA_TYPE = re.compile(r"(?:^|,)type=([^,]*)")

_DEFAULT_COMMENTS = {
    "pam": "Linux PAM standard authentication",
    "pve": "Proxmox VE authentication server",
}


@dataclass(frozen=True, slots=True)
class RealmChange:
    """What is said about a realm; None: nothing is said."""

    comment: str | None = None
    default: bool | None = None
    tfa: str | None = None
    unexpected: Sequence[str] = ()
    """Names of settings that only other kinds of realms have."""
    delete: Sequence[str] = ()
    digest: str | None = None


def realm_rows(state: AccessState) -> list[dict[str, object]]:
    """All realms, as the login page shows them to everybody."""
    return [_row(name, realm) for name, realm in sorted(state.realms.items())]


def realm_info(state: AccessState, name: str) -> dict[str, object]:
    """The settings of one realm."""
    realm = _existing(state, name)
    info: dict[str, object] = {"type": realm.kind, "comment": realm.comment}
    if realm.default:
        info["default"] = 1
    if realm.tfa:
        info["tfa"] = realm.tfa
    if realm.kind == "pam":
        info["plugin"] = "PVE::Auth::PAM"
    return {**info, "digest": _digest(state)}


def update_realm(state: AccessState, name: str, change: RealmChange) -> None:
    """Changes the settings of a realm."""
    with failing("update auth server failed"):
        if change.digest is not None and change.digest != _digest(state):
            raise die("detected modified configuration - file changed by other user? Try again.")
        realm = _existing(state, name)
        _check(change)
    realm.comment = _settled(change, "comment", change.comment, realm.comment)
    realm.comment = realm.comment or _DEFAULT_COMMENTS[name]
    realm.tfa = _settled(change, "tfa", change.tfa, realm.tfa)
    if change.default:
        for other in state.realms.values():
            other.default = False
    if change.default is not None:
        realm.default = change.default
    elif "default" in change.delete:
        realm.default = False


def _check(change: RealmChange) -> None:
    said = (change.comment, change.default, change.tfa)
    if "check-connection" in change.unexpected:
        raise die("'check-connection' parameter can only be set for realms of type 'ldap' or 'ad'")
    if said == (None, None, None) and not change.unexpected and not change.delete:
        raise die("no options specified")
    for name in change.unexpected:
        raise die(f"unexpected property '{name}'")


def _settled(change: RealmChange, name: str, said: str | None, before: str) -> str:
    """The value after a change: deleting comes first."""
    if said is not None:
        return said
    return "" if name in change.delete else before


def _row(name: str, realm: Realm) -> dict[str, object]:
    row: dict[str, object] = {"realm": name, "type": realm.kind, "comment": realm.comment}
    if realm.default:
        row["default"] = 1
    if found := _TFA_TYPE.search(realm.tfa):
        row["tfa"] = found[1]
    return row


def _existing(state: AccessState, name: str) -> Realm:
    realm = state.realms.get(name)
    if realm is None:
        raise die(f"domain '{name}' does not exist")
    return realm


def _digest(state: AccessState) -> str:
    lines = [
        f"{realm.kind}: {name}\n\tcomment {realm.comment}\n\tdefault {int(realm.default)}\n"
        f"\ttfa {realm.tfa}\n"
        for name, realm in sorted(state.realms.items())
    ]
    return hashlib.sha1("\n".join(lines).encode(), usedforsecurity=False).hexdigest()
