"""Names: the machine's own, and who tells it those of others and the time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stockman_lab.talos.cosi.content import Contents
from stockman_lab.talos.cosi.registry import kind

if TYPE_CHECKING:
    from stockman_lab.talos.machine import Machine

_HOST_DNS = "127.0.0.53:53"
_FORWARDED = "169.254.116.108"


def _layer(machine: Machine, *, told: bool) -> str:
    """Who wanted a setting: the configuration, where it says anything of it."""
    if told:
        return "configuration"
    return "platform" if machine.state.platform_config else "default"


@kind("HostnameStatuses.net.talos.dev", "network.HostnameSpecController")
def hostname_statuses(machine: Machine) -> Contents:
    network = machine.state.network
    if not network.hostname:
        return {}
    return {"hostname": {"hostname": network.hostname, "domainname": network.domain}}


@kind("HostnameSpecs.net.talos.dev", "HostnameMergeControllers.net.talos.dev")
def hostname_specs(machine: Machine) -> Contents:
    config, network = machine.config, machine.state.network
    if not network.hostname:
        return {}
    layer = _layer(machine, told=config is not None and bool(config.hostname))
    spec = {"hostname": network.hostname, "domainname": network.domain, "layer": layer}
    return {"hostname": spec}


@kind("ResolverStatuses.net.talos.dev", "network.ResolverSpecController")
def resolver_statuses(machine: Machine) -> Contents:
    network = machine.state.network
    return {
        "resolvers": {
            "dnsServers": list(network.resolvers),
            "searchDomains": list(network.search_domains),
            "nameServers": [
                {"addr": resolver, "protocol": "Do53"} for resolver in network.resolvers
            ],
        }
    }


@kind("ResolverSpecs.net.talos.dev", "ResolverMergeControllers.net.talos.dev")
def resolver_specs(machine: Machine) -> Contents:
    config, network = machine.config, machine.state.network
    return {
        "resolvers": {
            "dnsServers": list(network.resolvers),
            "nameServers": [
                {"addr": resolver, "protocol": "Do53"} for resolver in network.resolvers
            ],
            "layer": _layer(machine, told=config is not None and bool(config.nameservers)),
            "searchDomains": list(network.search_domains),
        }
    }


@kind("TimeServerStatuses.net.talos.dev", "network.TimeServerSpecController")
def time_server_statuses(machine: Machine) -> Contents:
    return {"timeservers": {"timeServers": list(machine.state.network.time_servers)}}


@kind("TimeServerSpecs.net.talos.dev", "TimeServerMergeControllers.net.talos.dev")
def time_server_specs(machine: Machine) -> Contents:
    config = machine.config
    layer = _layer(machine, told=config is not None and bool(config.time_servers))
    servers = list(machine.state.network.time_servers)
    return {"timeservers": {"timeServers": servers, "layer": layer}}


@kind("NetworkStatuses.net.talos.dev", "network.StatusController")
def network_statuses(machine: Machine) -> Contents:
    network = machine.state.network
    return {
        "status": {
            "addressReady": bool(machine.address),
            "connectivityReady": bool(network.routes),
            "hostnameReady": bool(network.hostname),
            "etcFilesReady": bool(network.links),
        }
    }


@kind("HostDNSConfigs.net.talos.dev", "network.HostDNSConfigController")
def host_dns_configs(machine: Machine) -> Contents:
    config = machine.config
    if config is None:
        return {"config": {"enabled": True, "listenAddresses": [_HOST_DNS]}}
    features = config.features
    found: dict[str, object] = {
        "enabled": features.host_dns,
        "listenAddresses": [_HOST_DNS],
        "resolveMemberNames": features.resolves_member_names,
    }
    if features.host_dns and features.forwards_kube_dns:
        found["listenAddresses"] = [_HOST_DNS, f"{_FORWARDED}:53"]
        found["serviceHostDNSAddress"] = _FORWARDED
    return {"config": found}


@kind("StaticHosts.net.talos.dev", "network.StaticHostController")
def static_hosts(machine: Machine) -> Contents:
    config = machine.config
    if config is None:
        return {}
    addresses: dict[str, list[str]] = {}
    for address, names in config.static_hosts.items():
        for name in names:
            addresses.setdefault(name, []).append(address)
    return {name: {"addresses": found} for name, found in addresses.items()}
