"""Checks of the privileges of Proxmox tokens."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial

from stockman.app.doctor.check import CheckInput, ConfiguredToken, ProxmoxAccess, Question, check
from stockman.app.doctor.finding import CheckResult, fail, ok
from stockman.app.doctor.proxmox_queries import query_with_token
from stockman.planning.vm.requirements import host_requirements
from stockman.ports.environment import Network
from stockman.proxmox.client import ProxmoxClient
from stockman.proxmox.privileges import RequiredPrivileges, provisioning_privileges, role_privileges

_FROM_9 = 9


@check("proxmox.rights")
def rights(scene: CheckInput) -> Iterator[Question]:
    """The token of stockman may do what the configuration asks for."""
    for region in scene.regions:
        token = region.token
        yield Question(subject=token.id, ask=partial(_check_own_token, scene, region, token))


@check("proxmox.component-rights")
def component_rights(scene: CheckInput) -> Iterator[Question]:
    """The tokens of components may do what the components need."""
    for region in scene.regions:
        for token in region.component_tokens:
            yield Question(subject=token.id, ask=partial(_check_component_token, region, token))


async def _check_own_token(
    scene: CheckInput, region: ProxmoxAccess, token: ConfiguredToken, network: Network
) -> Iterable[CheckResult]:
    del network

    async def look(pve: ProxmoxClient) -> Iterable[CheckResult]:
        major = (await pve.version()).major
        desired = host_requirements(scene.desired, region.cluster).wish
        return await _assess_token(pve, token, provisioning_privileges(major, desired))

    return await query_with_token(region, token, token.id, look)


async def _check_component_token(
    region: ProxmoxAccess, token: ConfiguredToken, network: Network
) -> Iterable[CheckResult]:
    from stockman.catalog.registry import component

    del network
    access = component(token.owner).proxmox

    async def look(pve: ProxmoxClient) -> Iterable[CheckResult]:
        if access is None:
            return ()
        newer = (await pve.version()).major >= _FROM_9
        further = access.privileges_from_9 if newer else ()
        return await _assess_token(
            pve, token, role_privileges(access.paths, (*access.privileges, *further))
        )

    return await query_with_token(region, token, token.id, look)


async def _assess_token(
    pve: ProxmoxClient, token: ConfiguredToken, needs: Sequence[RequiredPrivileges]
) -> Iterable[CheckResult]:
    missing = [(need, lacked) for need in needs if (lacked := await _missing_privileges(pve, need))]
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


async def _missing_privileges(pve: ProxmoxClient, need: RequiredPrivileges) -> frozenset[str]:
    lacked = need.privileges - await _list_privileges(pve, need.path)
    if not lacked or not need.alternatives:
        return lacked
    below = [need.privileges - await _list_privileges(pve, path) for path in need.alternatives]
    return frozenset().union(*below)


async def _list_privileges(pve: ProxmoxClient, path: str) -> frozenset[str]:
    return (await pve.permissions(path)).get(path, frozenset())


CHECKS = (rights, component_rights)
