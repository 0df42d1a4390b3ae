"""Rules for access: DNS, ingress, BGP, the Git server, registry mirrors and the firewall."""

from __future__ import annotations

from urllib.parse import urlsplit

from stockman.config.rules.context import RuleContext
from stockman.model.machine import FirewallRule, RegistryMirror
from stockman.model.origin import Origin
from stockman.model.pattern import pattern

KNOWN_HOSTS = ("github.com", "gitlab.com", "codeberg.org")
"""Git servers whose host keys are built in."""

_SSH = pattern(r"ssh://(?:[^@/]+@)?([^:/]+)|[A-Za-z0-9_.-]+@([A-Za-z0-9.-]+):")


def check_edge(context: RuleContext) -> None:
    """Check DNS, ingress, BGP and the repository."""
    if not context.has_cluster or not context.complete:
        return
    _check_dns(context)
    _check_ingress(context)
    _check_bgp(context)
    _check_repository(context)


def _check_dns(context: RuleContext) -> None:
    estate = context.configuration
    token = estate.dns.token
    token_name = context.name("dns.token")
    provider_name = context.name("dns.provider")
    off = f"set {provider_name} to {'false' if '_' in provider_name else 'none'}"
    if estate.dns.provider == "none":
        if token is not None and token.reveal().strip():
            context.problems.error(
                "dns.token-unused",
                f"{token_name} is given, but there is no DNS provider",
                why="a token that nothing uses is only a risk",
                fix=f"remove {token_name}",
                at=estate.dns.where("token"),
            )
        return
    if token is None or not token.reveal().strip():
        context.problems.error(
            "dns.token-missing",
            f"{token_name} is missing",
            why="Cloudflare serves the domain, and editing it needs a token",
            fix=f"add {token_name}, for example ${{CLOUDFLARE_TOKEN}}; or {off}",
            at=estate.dns.origins.get("token") or context.cluster_file,
        )
    if estate.domain.name is None and not context.is_reported(estate.domain.origins.get("name")):
        name = context.name("domain.name")
        context.problems.error(
            "config.missing-key",
            f"{name} is missing",
            why="public DNS needs a domain",
            fix=f"add {name}; or {off}",
            at=context.cluster_file,
        )


def _check_ingress(context: RuleContext) -> None:
    estate = context.configuration
    mode = estate.ingress.mode or ("none" if estate.dns.provider == "none" else "cloudflare-tunnel")
    if mode == "none":
        return
    if estate.dns.provider == "none":
        context.problems.error(
            "ingress.needs-dns",
            f"ingress.mode {mode} has no DNS to work with",
            why=f"{context.name('dns.provider')} says that nothing is published",
            fix="set ingress.mode to none, or name a DNS provider",
            at=estate.ingress.where("mode"),
        )
    external = estate.gateways.external
    if external is None and not context.is_reported(estate.gateways.origins.get("external")):
        name = context.name("gateways.external")
        context.problems.error(
            "ingress.no-gateway",
            f"{name} is missing",
            why=f"ingress.mode {mode} publishes services through that gateway",
            fix=f"add {name} with an address of the node network",
            at=context.cluster_file,
        )


def _check_bgp(context: RuleContext) -> None:
    bgp = context.configuration.cilium.bgp
    present = [name for name in ("router_addr", "router_asn", "node_asn") if name in bgp.origins]
    missing = [name for name in ("router_addr", "router_asn", "node_asn") if name not in present]
    if present and missing:
        names = ", ".join(context.name(f"cilium.bgp.{name}") for name in missing)
        context.problems.error(
            "bgp.partial",
            "BGP is set up by halves",
            why=f"{names} {'is' if len(missing) == 1 else 'are'} missing",
            fix="give all three keys, or none",
            at=bgp.where(present[0]),
        )


def _check_repository(context: RuleContext) -> None:
    repository = context.configuration.repository
    match = _SSH.match(repository.url or "")
    if match is None:
        return
    server = match[1] or match[2]
    if server not in KNOWN_HOSTS and not (repository.known_hosts or "").strip():
        context.problems.error(
            "repository.known-hosts-missing",
            f"the host keys of {server} are not known",
            why="Flux reads the repository over SSH and has to verify the server",
            fix=f"add repository.known_hosts with the output of `ssh-keyscan {server}`",
            at=repository.where("url"),
        )


_PAIRS = (("username", "password"), ("client_cert_file", "client_key"))
_TLS = ("ca_file", "client_cert_file", "insecure_skip_verify")
_ACCESS = ("username", "password", "client_key", *_TLS)


def check_mirrors(context: RuleContext) -> None:
    """Check that credentials of registry mirrors are complete and unique per host."""
    registries = context.configuration.talos.registries
    by_host: dict[str, tuple[str, RegistryMirror]] = {}
    for registry, mirror in registries.items():
        for pair in _PAIRS:
            _check_pair(context, registry, mirror, pair)
        _check_plain(context, registry, mirror)
        for host in [urlsplit(url).netloc for url in mirror.endpoints] or [registry]:
            first_registry, first = by_host.setdefault(host, (registry, mirror))
            if _access_settings(first) != _access_settings(mirror):
                why = f"{host} is a mirror of {first_registry} too, with other credentials"
                _report_mirror(
                    context, registry, why, "give both the same credentials", mirror.where()
                )


def _check_pair(
    context: RuleContext, registry: str, mirror: RegistryMirror, pair: tuple[str, str]
) -> None:
    present = [name for name in pair if getattr(mirror, name) is not None]
    if len(present) == 1:
        (missing,) = set(pair) - set(present)
        why = f"{present[0]} is given, {missing} is not"
        _report_mirror(context, registry, why, f"give {missing} as well", mirror.where(present[0]))


def _check_plain(context: RuleContext, registry: str, mirror: RegistryMirror) -> None:
    plain = [url for url in mirror.endpoints if url.startswith("http://")]
    for name in _TLS:
        if plain and getattr(mirror, name):
            why = f"{name} is for TLS, and {plain[0]} is reached without"
            fix = f"use https, or remove {name}"
            _report_mirror(context, registry, why, fix, mirror.where(name))


def _access_settings(mirror: RegistryMirror) -> list[object]:
    return [getattr(mirror, name) for name in _ACCESS]


def _report_mirror(
    context: RuleContext, registry: str, why: str, fix: str, at: Origin | None
) -> None:
    summary = f"machines would not get into the mirrors of {registry}"
    context.problems.error("mirror.access", summary, why=why, fix=fix, at=at)


OWN_RULES = (
    "apid-ingress",
    "kubelet-ingress",
    "trustd-ingress",
    "kubernetes-api-ingress",
    "etcd-ingress",
    "cilium-ingress",
    "cilium-tunnel-ingress",
    "kubespan-ingress",
)
"""Names of the firewall rules that stockman creates."""

_LAST_PORT = 65_535


def check_firewall(context: RuleContext) -> None:
    """Check names and ports of firewall rules."""
    firewall = context.configuration.talos.firewall
    for name, rule in firewall.rules.items():
        if name in OWN_RULES:
            context.problems.error(
                "firewall.rule",
                f"the name of the firewall rule {name} is reserved",
                why="stockman creates a rule of that name",
                fix="give it another name",
                at=rule.where(),
            )
        _check_ports(context, name, rule)
    if firewall.rules and not firewall.enabled:
        context.problems.warn(
            "firewall.off",
            "the firewall has rules, and is off",
            why="talos.firewall.enabled is false, so that everything is open",
            fix="set `enabled: true`, or remove the rules",
            at=firewall.where("rules"),
        )


def _check_ports(context: RuleContext, name: str, rule: FirewallRule) -> None:
    before = 0
    for low, high, text in sorted(_parse_port_range(text) for text in rule.ports):
        why = ""
        if not 1 <= low <= high <= _LAST_PORT:
            why = f"{text} is not between 1 and {_LAST_PORT}, or falls"
        elif low <= before:
            why = f"{text} overlaps another of its ports"
        before = max(before, high)
        if why:
            context.problems.error(
                "firewall.rule",
                f"the firewall rule {name} has a wrong port range",
                why=why,
                fix="write each port once, ranges as 9100-9110",
                at=rule.where("ports"),
            )


def _parse_port_range(text: str) -> tuple[int, int, str]:
    low, _, high = text.partition("-")
    return int(low), int(high or low), text
