"""Rules for the cluster: supported versions and required keys."""

from __future__ import annotations

from typing import NamedTuple

from stockman.config.rules.context import RuleContext
from stockman.model import compatibility
from stockman.model.origin import Origin, Traced
from stockman.model.version import Version


class _Codes(NamedTuple):
    unsupported: str
    newer: str
    topic: str
    """Topic of `stockman versions`."""


_TALOS = _Codes("talos.unsupported", "talos.newer", "talos")
_KUBERNETES = _Codes("kubernetes.unsupported", "kubernetes.newer", "kubernetes")
_PROXMOX = _Codes("proxmox.unsupported", "proxmox.newer", "proxmox")


def check_versions(context: RuleContext) -> None:
    """Check versions against the supported ones; an unknown newer patch is a warning."""
    estate = context.configuration
    talos = estate.talos
    if talos.version is not None:
        fit = compatibility.talos_compatibility(talos.version)
        _report_version(context, _TALOS, f"Talos {talos.version}", fit, talos.where("version"))
    if talos.contract is not None:
        _check_contract(context, talos.contract)
    _check_kubernetes(context)
    proxmox = estate.proxmox
    if proxmox is None:
        return
    for cluster in (proxmox, *proxmox.clusters):
        if cluster.version is not None:
            name = f"Proxmox VE {cluster.version}"
            fit = compatibility.proxmox_compatibility(cluster.version)
            _report_version(context, _PROXMOX, name, fit, cluster.where("version"))


def _check_kubernetes(context: RuleContext) -> None:
    talos, kubernetes = context.configuration.talos, context.configuration.kubernetes
    if kubernetes.version is None:
        return
    running = talos.version or compatibility.talos_lines()[-1].newest
    if compatibility.talos_line(running) is None:
        return
    fit = compatibility.kubernetes_compatibility(running, kubernetes.version)
    name = f"Kubernetes {kubernetes.version}"
    _report_version(context, _KUBERNETES, name, fit, kubernetes.where("version"))


def _report_version(
    context: RuleContext,
    codes: _Codes,
    name: str,
    fit: compatibility.Compatibility,
    where: Origin | None,
) -> None:
    if fit.verdict is compatibility.Verdict.REFUSED:
        context.problems.error(
            codes.unsupported,
            f"{name} is not supported",
            why=fit.reason,
            fix=f"choose a version that `stockman versions {codes.topic}` lists",
            at=where,
        )
    elif fit.verdict is compatibility.Verdict.NEWER:
        context.problems.warn(
            codes.newer,
            f"{name} is newer than this stockman knows",
            why=fit.reason,
            fix="go on with care, or use a newer stockman",
            at=where,
        )


def _check_contract(context: RuleContext, contract: Version) -> None:
    talos = context.configuration.talos
    version = talos.version
    known = compatibility.talos_line(contract) is not None
    if known and (version is None or contract.line <= version.line):
        return
    why = (
        f"the nodes run Talos {version}, which cannot read the style of {contract.minor_text}"
        if known
        else f"there is no style of configuration for Talos {contract.minor_text}"
    )
    context.problems.error(
        "talos.contract-mismatch",
        f"{context.name('talos.contract')} does not fit",
        why=why,
        fix="set it to the Talos line the cluster was made with, such as "
        f"{version.minor_text if version is not None else '1.13'}",
        at=talos.where("contract"),
    )


def check_presence(context: RuleContext) -> None:
    """Check required keys of a cluster. Without Talos nodes none is required."""
    if not context.has_cluster or not context.complete:
        return
    estate = context.configuration
    _check_present(
        context, estate.network, "node_cidr", "network.node_cidr", "the network of the nodes"
    )
    _check_present(
        context, estate.kubernetes.api, "addr", "kubernetes.api.addr", "the API's address"
    )
    _check_present(
        context, estate.gateways, "internal", "gateways.internal", "the internal gateway"
    )
    _check_present(context, estate.gateways, "dns", "gateways.dns", "the DNS gateway")
    _check_present(
        context, estate.repository, "url", "repository.url", "the Git repository Flux follows"
    )


def _check_present(
    context: RuleContext, section: Traced, field: str, path: str, purpose: str
) -> None:
    if getattr(section, field) is not None or field in section.origins:
        return
    name = context.name(path)
    context.problems.error(
        "config.missing-key",
        f"{name} is missing",
        why=f"a cluster needs {purpose}",
        fix=f"add {name}; see `stockman explain {name}`",
        at=context.cluster_file,
    )
