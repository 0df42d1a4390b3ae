"""The edge: DNS, ingress, gateways, BGP, and the Git server's host keys."""

from __future__ import annotations

from stockman.config.rules.context import Context
from stockman.model.pattern import pattern

KNOWN_HOSTS = ("github.com", "gitlab.com", "codeberg.org")
"""Git servers whose host keys stockman knows."""

_SSH = pattern(r"ssh://(?:[^@/]+@)?([^:/]+)|[A-Za-z0-9_.-]+@([A-Za-z0-9.-]+):")


def check(context: Context) -> None:
    if not context.has_cluster or not context.complete:
        return
    _check_dns(context)
    _check_ingress(context)
    _check_bgp(context)
    _check_repository(context)


def _check_dns(context: Context) -> None:
    estate = context.estate
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
    if estate.domain.name is None and not context.reported(estate.domain.origins.get("name")):
        name = context.name("domain.name")
        context.problems.error(
            "config.missing-key",
            f"{name} is missing",
            why="public DNS needs a domain",
            fix=f"add {name}; or {off}",
            at=context.cluster_file,
        )


def _check_ingress(context: Context) -> None:
    estate = context.estate
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
    if external is None and not context.reported(estate.gateways.origins.get("external")):
        name = context.name("gateways.external")
        context.problems.error(
            "ingress.no-gateway",
            f"{name} is missing",
            why=f"ingress.mode {mode} publishes services through that gateway",
            fix=f"add {name} with an address of the node network",
            at=context.cluster_file,
        )


def _check_bgp(context: Context) -> None:
    bgp = context.estate.cilium.bgp
    given = [name for name in ("router_addr", "router_asn", "node_asn") if name in bgp.origins]
    missing = [name for name in ("router_addr", "router_asn", "node_asn") if name not in given]
    if given and missing:
        names = ", ".join(context.name(f"cilium.bgp.{name}") for name in missing)
        context.problems.error(
            "bgp.partial",
            "BGP is set up by halves",
            why=f"{names} {'is' if len(missing) == 1 else 'are'} missing",
            fix="give all three keys, or none",
            at=bgp.where(given[0]),
        )


def _check_repository(context: Context) -> None:
    repository = context.estate.repository
    found = _SSH.match(repository.url or "")
    if found is None:
        return
    server = found[1] or found[2]
    if server not in KNOWN_HOSTS and not (repository.known_hosts or "").strip():
        context.problems.error(
            "repository.known-hosts-missing",
            f"the host keys of {server} are not known",
            why="Flux reaches the repository by SSH and must know whom it talks to",
            fix=f"add repository.known_hosts with the output of `ssh-keyscan {server}`",
            at=repository.where("url"),
        )
