"""Contract 1.12: name, resolvers, hosts and time of a machine get documents of their own."""

from __future__ import annotations

from stockman.talos.migration.draft import Draft
from stockman.talos.migration.edit import Nature, Plain
from stockman.talos.migration.values import chosen, mapping, mappings, texts

_GONE = {
    "machine.features.rbac": "roles are always checked from 1.12 on",
    "machine.features.apidCheckExtKeyUsage": "the usage of keys is always checked from 1.12 on",
    "cluster.apiServer.disablePodSecurityPolicy": "Kubernetes has no pod security policies",
}


def host(draft: Draft) -> None:
    _hostname(draft)
    _resolvers(draft)
    _hosts(draft)
    _time(draft)
    for path, reason in _GONE.items():
        draft.take(path, reason, Nature.REMOVED)


def _hostname(draft: Draft) -> None:
    reason = "the name of the machine is in a HostnameConfig"
    name = draft.take("machine.network.hostname", reason)
    stable = draft.take("machine.features.stableHostname", reason)
    if name:
        draft.put("HostnameConfig", {"hostname": name, "auto": "off"}, reason)
    elif stable is True:
        draft.put("HostnameConfig", {"auto": "stable"}, reason)


def _resolvers(draft: Draft) -> None:
    reason = "resolvers are in a ResolverConfig"
    fields: Plain = {}
    servers = draft.take("machine.network.nameservers", reason)
    if servers:
        fields["nameservers"] = [{"address": address} for address in texts(servers)]
    search: Plain = {}
    domains = draft.take("machine.network.searchDomains", reason)
    if domains:
        search["domains"] = domains
    if draft.take("machine.network.disableSearchDomain", reason) is True:
        search["disableDefault"] = True
    if search:
        fields["searchDomains"] = search
    if fields:
        draft.put("ResolverConfig", fields, reason)


def _hosts(draft: Draft) -> None:
    reason = "every address of the hosts file is a StaticHostConfig"
    names: dict[str, list[str]] = {}
    for entry in mappings(draft.take("machine.network.extraHostEntries", reason)):
        known = names.setdefault(str(entry.get("ip", "")), [])
        known += [alias for alias in texts(entry.get("aliases")) if alias not in known]
    for address, aliases in names.items():
        draft.put("StaticHostConfig", {"hostnames": aliases}, reason, name=address)


def _time(draft: Draft) -> None:
    reason = "time servers are in a TimeSyncConfig"
    section = mapping(draft.take("machine.time", reason))
    fields = chosen(section, "bootTimeout")
    if section.get("disabled") is not None:
        fields["enabled"] = not section["disabled"]
    if section.get("servers"):
        fields["ntp"] = {"servers": section["servers"]}
    if fields:
        draft.put("TimeSyncConfig", fields, reason)
