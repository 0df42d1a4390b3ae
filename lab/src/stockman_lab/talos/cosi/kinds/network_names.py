"""Names: the machine's own, and who tells it those of others and the time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stockman_lab.talos.cosi.registry import Contents, kind

if TYPE_CHECKING:
    from stockman_lab.talos.machine import Machine


@kind("HostnameStatuses.net.talos.dev", "network.HostnameSpecController")
def hostname_statuses(machine: Machine) -> Contents:
    network = machine.state.network
    if not network.hostname:
        return {}
    return {"hostname": {"hostname": network.hostname, "domainname": network.domain}}


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


@kind("TimeServerStatuses.net.talos.dev", "network.TimeServerSpecController")
def time_server_statuses(machine: Machine) -> Contents:
    return {"timeservers": {"timeServers": list(machine.state.network.time_servers)}}


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
