"""Contract 1.12: hostname, resolvers, hosts, time and registries as documents."""

from __future__ import annotations

from stockman.talos.migration.draft import (
    ConfigDraft,
    EditNature,
    Plain,
    as_mapping,
    as_mappings,
    as_texts,
    decode_base64,
    select_fields,
)

_REMOVED_FIELDS = {
    "machine.features.rbac": "roles are always enforced from 1.12 on",
    "machine.features.apidCheckExtKeyUsage": "key usage is always checked from 1.12 on",
    "cluster.apiServer.disablePodSecurityPolicy": "Kubernetes has no pod security policies",
}


def migrate_host(draft: ConfigDraft) -> None:
    _hostname(draft)
    _resolvers(draft)
    _hosts(draft)
    _time(draft)
    for path, reason in _REMOVED_FIELDS.items():
        draft.take(path, reason, EditNature.REMOVED)


def _hostname(draft: ConfigDraft) -> None:
    reason = "the hostname moves to HostnameConfig"
    name = draft.take("machine.network.hostname", reason)
    stable = draft.take("machine.features.stableHostname", reason)
    if name:
        draft.put("HostnameConfig", {"hostname": name, "auto": "off"}, reason)
    elif stable is True:
        draft.put("HostnameConfig", {"auto": "stable"}, reason)


def _resolvers(draft: ConfigDraft) -> None:
    reason = "resolvers move to ResolverConfig"
    fields: Plain = {}
    servers = draft.take("machine.network.nameservers", reason)
    if servers:
        fields["nameservers"] = [{"address": address} for address in as_texts(servers)]
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


def _hosts(draft: ConfigDraft) -> None:
    reason = "host entries move to StaticHostConfig"
    names: dict[str, list[str]] = {}
    for entry in as_mappings(draft.take("machine.network.extraHostEntries", reason)):
        known = names.setdefault(str(entry.get("ip", "")), [])
        known += [alias for alias in as_texts(entry.get("aliases")) if alias not in known]
    for address, aliases in names.items():
        draft.put("StaticHostConfig", {"hostnames": aliases}, reason, name=address)


def _time(draft: ConfigDraft) -> None:
    reason = "time servers move to TimeSyncConfig"
    section = as_mapping(draft.take("machine.time", reason))
    fields = select_fields(section, "bootTimeout")
    if section.get("disabled") is not None:
        fields["enabled"] = not section["disabled"]
    if section.get("servers"):
        fields["ntp"] = {"servers": section["servers"]}
    if fields:
        draft.put("TimeSyncConfig", fields, reason)


def migrate_registries(draft: ConfigDraft) -> None:
    reason = "registries move to RegistryMirror-, RegistryAuth- and RegistryTLSConfig documents"
    section = as_mapping(draft.take("machine.registries", reason))
    for host, settings in as_mapping(section.get("mirrors")).items():
        draft.put("RegistryMirrorConfig", _mirror(as_mapping(settings)), reason, name=host)
    for host, settings in as_mapping(section.get("config")).items():
        login = as_mapping(as_mapping(settings).get("auth"))
        if login:
            draft.put("RegistryAuthConfig", login, reason, name=host)
        tls = _tls(as_mapping(as_mapping(settings).get("tls")))
        if tls:
            draft.put("RegistryTLSConfig", tls, reason, name=host)


def _mirror(mirror: Plain) -> Plain:
    keeps_path: Plain = {"overridePath": True} if mirror.get("overridePath") is True else {}
    endpoints = [{"url": url, **keeps_path} for url in as_texts(mirror.get("endpoints"))]
    return {"endpoints": endpoints, **select_fields(mirror, "skipFallback")}


def _tls(tls: Plain) -> Plain:
    fields: Plain = {}
    identity = as_mapping(tls.get("clientIdentity"))
    if identity:
        fields["clientIdentity"] = {
            "cert": decode_base64(identity.get("crt")),
            "key": decode_base64(identity.get("key")),
        }
    if tls.get("ca"):
        fields["ca"] = decode_base64(tls["ca"])
    return fields | select_fields(tls, "insecureSkipVerify")
