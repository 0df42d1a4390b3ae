"""Checks whether the servers in the configuration have an address, answer and can be trusted."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from functools import partial

from stockman.assessment.doctor.check import (
    Check,
    CheckInput,
    CheckResult,
    CheckStatus,
    Question,
    check,
    fail,
    ok,
    skip,
    unknown,
    warn,
)
from stockman.assessment.doctor.servers import (
    Endpoint,
    ServerKind,
    name_servers,
    origin_of_key,
    proxy_variable,
    time_servers,
)
from stockman.ports.environment import Certificate, Network, NoAddress, NoAnswer, Trust


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


_SOON = timedelta(days=14)


@check("reach.proxmox")
def proxmox(scene: CheckInput) -> Iterator[Question]:
    """The Proxmox API answers, and its certificate is the one that is trusted."""
    regions: dict[str, list[Endpoint]] = {}
    for server in scene.servers:
        if server.kind == "proxmox":
            regions.setdefault(server.purpose, []).append(server)
    for purpose, endpoints in regions.items():
        yield Question(subject=purpose, ask=partial(_check_any, scene, endpoints))


def _reach_check(name: str, kind: ServerKind, about: str) -> Check:
    """Return a check of servers each of which must answer."""

    def look(scene: CheckInput) -> Iterator[Question]:
        for server in scene.servers:
            if server.kind == kind:
                yield Question(subject=server.address, ask=partial(_check_endpoint, scene, server))

    return Check(name=name, about=about, look=look)


async def _check_endpoint(
    scene: CheckInput, endpoint: Endpoint, network: Network
) -> tuple[CheckResult, ...]:
    answer = await _answer(scene, endpoint, network)
    return (answer if isinstance(answer, CheckResult) else _unreachable(scene, endpoint, answer),)


async def _check_any(
    scene: CheckInput, endpoints: Sequence[Endpoint], network: Network
) -> tuple[CheckResult, ...]:
    """Return results for servers of which only one must answer."""
    import asyncio

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(_answer(scene, endpoint, network)) for endpoint in endpoints]
    answers = [task.result() for task in tasks]
    good = any(
        isinstance(answer, CheckResult) and answer.status is not CheckStatus.FAIL
        for answer in answers
    )
    silent = _skip_behind_proxy if good else _unreachable
    return tuple(
        answer if isinstance(answer, CheckResult) else silent(scene, endpoint, answer)
        for endpoint, answer in zip(endpoints, answers, strict=True)
    )


async def _answer(
    scene: CheckInput, endpoint: Endpoint, network: Network
) -> CheckResult | NoAnswer:
    try:
        if not endpoint.tls:
            await network.connect(endpoint.server)
            return _plain(endpoint)
        trust = _trust(scene, endpoint)
        if trust is None:
            return _problem_code(endpoint)(
                _subject(endpoint),
                f"its CA file {endpoint.ca_file} cannot be read",
                f"put the CA certificate there, or change {endpoint.trust_keys}",
            )
        return _assess_certificate(
            scene, endpoint, await network.certificate(endpoint.server, trust)
        )
    except NoAnswer as none:
        return none


def _plain(endpoint: Endpoint) -> CheckResult:
    if endpoint.kind == "proxmox":
        return warn(
            _subject(endpoint),
            "it answers, but without TLS others on the network can read the token",
            f"write https in {endpoint.written}",
        )
    return ok(_subject(endpoint), "it answers")


def _assess_certificate(scene: CheckInput, endpoint: Endpoint, shown: Certificate) -> CheckResult:
    subject = _subject(endpoint)
    until = f"{shown.expires:%Y-%m-%d}"
    if shown.flaw:
        flaw = f"its certificate is not trusted: {shown.flaw}"
        ended = shown.expires < scene.clock.now()
        fix = "renew it, or set the clock of this machine" if ended else _trust_fix(endpoint, shown)
        return _problem_code(endpoint)(subject, flaw, fix)
    left = shown.expires - scene.clock.now()
    if left < _SOON:
        ends = "ended" if left < timedelta() else "ends"
        return warn(subject, f"it answers; its certificate {ends} on {until}", "renew it")
    return ok(subject, f"it answers; its certificate is trusted until {until}")


def _trust_fix(endpoint: Endpoint, shown: Certificate) -> str:
    if not endpoint.trust_keys:
        return f"check {endpoint.written}; a CA of your own has to be known to this machine"
    return (
        f"it showed {shown.fingerprint}: if the server itself shows the same, "
        f"configure it with {endpoint.trust_keys}"
    )


def _unreachable(scene: CheckInput, endpoint: Endpoint, reason: NoAnswer) -> CheckResult:
    subject = _subject(endpoint)
    if isinstance(reason, NoAddress):
        return skip(subject, f"{endpoint.server.host} has no address, see `reach.names`")
    proxy = proxy_variable(scene.machine, endpoint.server.host) if endpoint.web else ""
    if proxy:
        return unknown(
            subject,
            f"{reason}; ${proxy} may reach it, and was not asked",
            f"try it with `curl --head {endpoint.address}`",
        )
    but = "" if endpoint.required else "; nodes may still reach it"
    return _problem_code(endpoint)(subject, f"{reason}{but}", _reach_fix(endpoint))


def _skip_behind_proxy(scene: CheckInput, endpoint: Endpoint, reason: NoAnswer) -> CheckResult:
    del scene
    return warn(_subject(endpoint), f"{reason}; another endpoint answers", _reach_fix(endpoint))


def _reach_fix(endpoint: Endpoint) -> str:
    return f"check {endpoint.written}, the server, and the network between"


def _problem_code(endpoint: Endpoint) -> Callable[[str, str, str], CheckResult]:
    return fail if endpoint.required else warn


def _subject(endpoint: Endpoint) -> str:
    return f"{endpoint.purpose}, {endpoint.address}"


def _trust(scene: CheckInput, endpoint: Endpoint) -> Trust | None:
    if endpoint.fingerprint is not None:
        return Trust(fingerprint=endpoint.fingerprint, further=endpoint.further_fingerprints)
    if endpoint.ca_file is None:
        return Trust()
    ca = scene.machine.read(scene.directory / endpoint.ca_file)
    return None if ca is None else Trust(ca=ca)


CHECKS = (
    host_names,
    lookups,
    proxmox,
    _reach_check("reach.kubernetes", "kubernetes", "The Kubernetes API answers."),
    _reach_check("reach.factory", "factory", "The Image Factory answers."),
    _reach_check("reach.git", "git", "The Git server answers."),
    _reach_check("reach.s3", "s3", "The S3 servers of backups and lock answer."),
    _reach_check("reach.mirrors", "mirror", "The mirrors of registries answer."),
    _reach_check("reach.identity", "identity", "The identity provider answers."),
    _reach_check("reach.hosts", "host", "The shells of hosts answer."),
)
