"""Calls on high availability."""

from __future__ import annotations

from collections.abc import Mapping

from stockman.model.errors import Rejected
from stockman.proxmox.calls.base import Calls, Parameters
from stockman.proxmox.ha import HaGroup, HaResource, HaRule
from stockman.proxmox.rows import number, read_record, text, words

_HA = ("cluster", "ha")
_MIGRATED = "have been migrated to rules"


class HaCalls(Calls):
    """HighAvailability."""

    async def ha_resources(self) -> tuple[HaResource, ...]:
        """List the guests that are managed by HA."""
        return await self._rows(
            (*_HA, "resources"), lambda row: read_record(HaResource, row, {"id": "sid"})
        )

    async def add_ha_resource(self, resource: HaResource) -> None:
        """Put a guest under HA management; raises `Conflict` if it already is."""
        await self._do("POST", (*_HA, "resources"), {"sid": resource.id, **_resource(resource)})

    async def update_ha_resource(self, resource: HaResource) -> None:
        """Update the HA settings of a guest."""
        await self._do("PUT", (*_HA, "resources", resource.id), _resource(resource))

    async def remove_ha_resource(self, id: str) -> None:  # noqa: A002  # as the port calls it
        """Remove a guest from HA management; raises `NotFound`."""
        await self._do("DELETE", (*_HA, "resources", id))

    async def ha_rules(self) -> tuple[HaRule, ...]:
        """List the placement rules; raises `Rejected` before Proxmox VE 9."""
        return await self._rows((*_HA, "rules"), _read_rule)

    async def create_ha_rule(self, rule: HaRule) -> None:
        """Create a rule; raises `Conflict` if it exists."""
        await self._do("POST", (*_HA, "rules"), {"rule": rule.name, **_rule(rule)})

    async def update_ha_rule(self, rule: HaRule) -> None:
        """Update a rule."""
        await self._do("PUT", (*_HA, "rules", rule.name), _rule(rule))

    async def delete_ha_rule(self, name: str) -> None:
        """Delete a rule."""
        await self._do("DELETE", (*_HA, "rules", name))

    async def ha_groups(self) -> tuple[HaGroup, ...]:
        """List the groups; empty on servers where rules replaced them."""
        try:
            return await self._rows((*_HA, "groups"), _read_group)
        except Rejected as error:
            if _MIGRATED in error.problem.why:
                return ()
            raise

    async def create_ha_group(self, group: HaGroup) -> None:
        """Create a group; raises `Rejected` on servers where rules replaced groups."""
        await self._do("POST", (*_HA, "groups"), {"group": group.name, **_group(group)})

    async def delete_ha_group(self, name: str) -> None:
        """Delete a group."""
        await self._do("DELETE", (*_HA, "groups", name))


def _resource(resource: HaResource) -> Parameters:
    return {
        "state": resource.state,
        "max_restart": resource.max_restart,
        "max_relocate": resource.max_relocate,
        "group": resource.group or None,
        "failback": resource.failback,
        "comment": resource.comment or None,
    }


def _rule(rule: HaRule) -> Parameters:
    by_host = rule.kind == "node-affinity"
    return {
        "type": rule.kind,
        "resources": ",".join(rule.resources),
        "nodes": _hosts_text(rule.hosts) if by_host else None,
        "strict": rule.strict if by_host else None,
        "affinity": rule.affinity or None,
        "disable": rule.disabled or None,
        "comment": rule.comment or None,
    }


def _group(group: HaGroup) -> Parameters:
    return {
        "nodes": _hosts_text(group.hosts),
        "restricted": group.restricted,
        "nofailback": group.no_failback,
        "comment": group.comment or None,
    }


def _read_rule(row: Mapping[str, object]) -> HaRule:
    names = {"name": "rule", "kind": "type", "disabled": "disable"}
    return read_record(HaRule, row, names, hosts=_hosts(row.get("nodes", "")))


def _read_group(row: Mapping[str, object]) -> HaGroup:
    names = {"name": "group", "no_failback": "nofailback"}
    return read_record(HaGroup, row, names, hosts=_hosts(row.get("nodes", "")))


def _hosts(value: object) -> dict[str, int | None]:
    """Hosts with their priorities: `pve1:2,pve2`."""
    pairs = (pair.partition(":") for pair in words(text(value)))
    return {host: number(priority) if priority else None for host, _, priority in pairs}


def _hosts_text(hosts: Mapping[str, int | None]) -> str:
    return ",".join(
        host if priority is None else f"{host}:{priority}" for host, priority in hosts.items()
    )
