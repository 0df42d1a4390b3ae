"""Realms: the two that every cluster has."""

from __future__ import annotations

import re

from stockman_lab.pve.access.state import AccessState, Realm

_TFA_TYPE = re.compile(r"(?:^|,)type=([^,]*)")


def realm_rows(state: AccessState) -> list[dict[str, object]]:
    """All realms, as the login page shows them to everybody."""
    return [_row(name, realm) for name, realm in sorted(state.realms.items())]


def _row(name: str, realm: Realm) -> dict[str, object]:
    row: dict[str, object] = {"realm": name, "type": realm.kind, "comment": realm.comment}
    if realm.default:
        row["default"] = 1
    if found := _TFA_TYPE.search(realm.tfa):
        row["tfa"] = found[1]
    return row
