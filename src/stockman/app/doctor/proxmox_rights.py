"""Checks of what tokens may do in Proxmox VE, by privilege and path."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial

from stockman.app.doctor.check import Question, Scene, check
from stockman.app.doctor.finding import Finding, fail, ok
from stockman.app.doctor.proxmox_asking import with_token
from stockman.app.doctor.region import HeldToken, Region
from stockman.planning.proxmox_needs import needs_of
from stockman.ports.probe import Network
from stockman.ports.proxmox import Proxmox
from stockman.proxmox.rights import Need, of_role, provisioning

_FROM_9 = 9


@check("proxmox.rights")
def rights(scene: Scene) -> Iterator[Question]:
    """The token of stockman may do what the configuration asks for."""
    for region in scene.regions:
        token = region.token
        yield Question(subject=token.id, ask=partial(_of_stockman, scene, region, token))


@check("proxmox.component-rights")
def component_rights(scene: Scene) -> Iterator[Question]:
    """The tokens of components may do what the components need."""
    for region in scene.regions:
        for token in region.others:
            yield Question(subject=token.id, ask=partial(_of_component, region, token))


async def _of_stockman(
    scene: Scene, region: Region, token: HeldToken, network: Network
) -> Iterable[Finding]:
    del network

    async def look(pve: Proxmox) -> Iterable[Finding]:
        major = (await pve.version()).major
        wish = needs_of(scene.desired, region.cluster).wish
        return await _judged(pve, token, provisioning(major, wish))

    return await with_token(region, token, token.id, look)


async def _of_component(region: Region, token: HeldToken, network: Network) -> Iterable[Finding]:
    from stockman.catalog.registry import component

    del network
    access = component(token.whose).proxmox

    async def look(pve: Proxmox) -> Iterable[Finding]:
        if access is None:
            return ()
        newer = (await pve.version()).major >= _FROM_9
        further = access.privileges_from_9 if newer else ()
        return await _judged(pve, token, of_role(access.paths, (*access.privileges, *further)))

    return await with_token(region, token, token.id, look)


async def _judged(pve: Proxmox, token: HeldToken, needs: Sequence[Need]) -> Iterable[Finding]:
    missing = [(need, lacked) for need in needs if (lacked := await _lacked(pve, need))]
    if not missing:
        paths = ", ".join(need.path for need in needs)
        return (ok(token.id, f"it has every privilege that is needed on {paths}"),)
    return [
        fail(
            token.id,
            f"it lacks {', '.join(sorted(lacked))} on {need.path}",
            f"add them to a role that {token.id} and its user have on {need.path}",
        )
        for need, lacked in missing
    ]


async def _lacked(pve: Proxmox, need: Need) -> frozenset[str]:
    lacked = need.privileges - await _held(pve, need.path)
    if not lacked or not need.instead:
        return lacked
    below = [need.privileges - await _held(pve, path) for path in need.instead]
    return frozenset().union(*below)


async def _held(pve: Proxmox, path: str) -> frozenset[str]:
    return (await pve.permissions(path)).get(path, frozenset())


CHECKS = (rights, component_rights)
