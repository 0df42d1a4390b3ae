"""Whether a caller may have what a request asks for."""

from __future__ import annotations

from collections.abc import Iterable

from stockman_lab.pve.api.call import Call
from stockman_lab.pve.errors import ApiError, bad_parameters
from stockman_lab.pve.guest_config.needs import Asked, Need, OnlyRoot

ONLY_ROOT = "Only root may use this option."


def check_needs(call: Call, needs: Iterable[Asked], pool: str = "") -> None:
    """Refuse at the first thing that the caller may not have; root may have everything."""
    if call.caller.is_root:
        return
    for need in needs:
        if need.moot_with is not None and call.may(*need.moot_with):
            continue
        if isinstance(need, OnlyRoot):
            raise need.error
        _check(call, need, pool)


def _check(call: Call, need: Need, pool: str) -> None:
    privileges = need.privileges
    if need.on_guest and pool and call.may(f"/pool/{pool}", *privileges, any_of=need.any_of):
        return
    if need.said and not call.may(need.path, *privileges, any_of=need.any_of):
        raise ApiError(403, f"Permission check failed ({need.said})")
    call.check(need.path, *privileges, any_of=need.any_of)


def only_for_root(call: Call, *names: str) -> None:
    """Refuse parameters that nobody but root may use."""
    for name in names:
        if call.params.get(name) and not call.caller.is_root:
            raise bad_parameters({name: ONLY_ROOT})
