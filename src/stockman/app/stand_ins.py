"""Secrets that stand for tokens which are still to be made, so that a plan can be whole."""

from __future__ import annotations

from dataclasses import replace

from stockman.catalog.registry import component, names
from stockman.model.component import Component
from stockman.model.desired import Desired
from stockman.model.secret import Secret

_STAND_IN = Secret("a token that is made later", resolved=True)


def with_stand_ins(desired: Desired) -> Desired:
    """The same with something in the place of every token of a component that is not there yet."""
    return replace(
        desired,
        components={
            name: _component(name, one, desired) for name, one in desired.components.items()
        },
    )


def _component(name: str, wish: Component, desired: Desired) -> Component:
    if not wish.enabled or name not in names() or component(name).proxmox is None:
        return wish
    secrets = dict(wish.secrets)
    for number, cluster in enumerate(desired.proxmox):
        if not (number == 0 and wish.token_secret is not None):
            secrets.setdefault(f"token-{cluster.region}", _STAND_IN)
    return replace(wish, secrets=secrets)
