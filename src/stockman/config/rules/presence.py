"""Keys that a cluster cannot do without. Without Talos nodes none of them is needed."""

from __future__ import annotations

from stockman.config.rules.context import Context
from stockman.model.origin import Traced


def check(context: Context) -> None:
    if not context.has_cluster or not context.complete:
        return
    estate = context.estate
    _need(context, estate.network, "node_cidr", "network.node_cidr", "the network of the nodes")
    _need(context, estate.kubernetes.api, "addr", "kubernetes.api.addr", "the API's address")
    _need(context, estate.gateways, "internal", "gateways.internal", "the internal gateway")
    _need(context, estate.gateways, "dns", "gateways.dns", "the DNS gateway")
    _need(context, estate.repository, "url", "repository.url", "the Git repository Flux follows")


def _need(context: Context, section: Traced, field: str, path: str, what: str) -> None:
    if getattr(section, field) is not None or field in section.origins:
        return
    name = context.name(path)
    context.problems.error(
        "config.missing-key",
        f"{name} is missing",
        why=f"a cluster needs {what}",
        fix=f"add {name}; see `stockman explain {name}`",
        at=context.cluster_file,
    )
