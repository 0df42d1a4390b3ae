"""Checks of names: which hosts have an address, and which name servers answer."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from functools import partial

from stockman.app.doctor.check import Question, Scene, check
from stockman.app.doctor.endpoint import Endpoint, written
from stockman.app.doctor.finding import Finding, fail, ok, unknown, warn
from stockman.app.doctor.proxy import proxy_variable
from stockman.app.doctor.servers import name_servers, time_servers
from stockman.ports.probe import Network, NoAnswer


@check("reach.names")
def resolved(scene: Scene) -> Iterator[Finding | Question]:
    """Every host that the configuration names has an address."""
    if not scene.complete:
        yield unknown(
            "servers", "not known, as the configuration cannot be read", "see `config.files`"
        )
    servers = scene.servers
    needed = {one.door.host for one in servers if one.needed and not _proxied(scene, one)}
    for host in dict.fromkeys((*(one.door.host for one in servers), *time_servers(scene.estate))):
        if not _is_address(host):
            yield Question(subject=host, ask=partial(_addresses, host, host in needed))


@check("reach.dns")
def lookups(scene: Scene) -> Iterator[Question]:
    """The name servers of the nodes answer."""
    key = written(scene.estate.network, "dns_servers", "network.dns_servers")
    for server in name_servers(scene.estate):
        yield Question(subject=server, ask=partial(_answers, server, key))


async def _addresses(host: str, needed: bool, network: Network) -> tuple[Finding, ...]:
    try:
        found = await network.resolve(host)
    except NoAnswer as none:
        report = fail if needed else warn
        return (report(host, str(none), f"check the name, or look at `getent hosts {host}`"),)
    return (ok(host, ", ".join(found)),)


async def _answers(server: str, key: str, network: Network) -> tuple[Finding, ...]:
    subject = f"name server {server}"
    try:
        await network.name_server(server)
    except NoAnswer as none:
        fix = f"check {key}, and that questions to port 53 may pass"
        return (warn(subject, f"{none}; nodes may still reach it", fix),)
    return (ok(subject, "it answers"),)


def _proxied(scene: Scene, server: Endpoint) -> bool:
    return server.web and bool(proxy_variable(scene.machine, server.door.host))


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


CHECKS = (resolved, lookups)
