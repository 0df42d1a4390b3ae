"""Checks of host names and name servers."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from functools import partial

from stockman.app.doctor.check import CheckInput, Question, check
from stockman.app.doctor.finding import CheckResult, fail, ok, unknown, warn
from stockman.app.doctor.proxy import proxy_variable
from stockman.app.doctor.servers import Endpoint, name_servers, origin_of_key, time_servers
from stockman.ports.environment import Network, NoAnswer


@check("reach.names")
def host_names(scene: CheckInput) -> Iterator[CheckResult | Question]:
    """Every host that the configuration names has an address."""
    if not scene.complete:
        yield unknown(
            "servers", "not known, as the configuration cannot be read", "see `config.files`"
        )
    servers = scene.servers
    needed = {
        server.server.host
        for server in servers
        if server.required and not _uses_proxy(scene, server)
    }
    for host in dict.fromkeys(
        (*(server.server.host for server in servers), *time_servers(scene.estate))
    ):
        if not _is_address(host):
            yield Question(subject=host, ask=partial(_addresses, host, host in needed))


@check("reach.dns")
def lookups(scene: CheckInput) -> Iterator[Question]:
    """The name servers of the nodes answer."""
    key = origin_of_key(scene.estate.network, "dns_servers", "network.dns_servers")
    for server in name_servers(scene.estate):
        yield Question(subject=server, ask=partial(_answers, server, key))


async def _addresses(host: str, needed: bool, network: Network) -> tuple[CheckResult, ...]:
    try:
        addresses = await network.resolve(host)
    except NoAnswer as none:
        report = fail if needed else warn
        return (report(host, str(none), f"check the name, or look at `getent hosts {host}`"),)
    return (ok(host, ", ".join(addresses)),)


async def _answers(server: str, key: str, network: Network) -> tuple[CheckResult, ...]:
    subject = f"name server {server}"
    try:
        await network.name_server(server)
    except NoAnswer as none:
        fix = f"check {key}, and that questions to port 53 may pass"
        return (warn(subject, f"{none}; nodes may still reach it", fix),)
    return (ok(subject, "it answers"),)


def _uses_proxy(scene: CheckInput, server: Endpoint) -> bool:
    return server.web and bool(proxy_variable(scene.machine, server.server.host))


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


CHECKS = (host_names, lookups)
