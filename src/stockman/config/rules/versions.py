"""Versions against what stockman supports; a newer patch than we know is a warning."""

from __future__ import annotations

from typing import NamedTuple

from stockman.config.rules.context import Context
from stockman.model import support
from stockman.model.origin import Origin
from stockman.model.version import Version


class _Codes(NamedTuple):
    unsupported: str
    newer: str
    topic: str
    """Of `stockman versions`."""


_TALOS = _Codes("talos.unsupported", "talos.newer", "talos")
_KUBERNETES = _Codes("kubernetes.unsupported", "kubernetes.newer", "kubernetes")
_PROXMOX = _Codes("proxmox.unsupported", "proxmox.newer", "proxmox")


def check(context: Context) -> None:
    estate = context.estate
    talos = estate.talos
    if talos.version is not None:
        fit = support.talos_fits(talos.version)
        _report(context, _TALOS, f"Talos {talos.version}", fit, talos.where("version"))
    if talos.contract is not None:
        _check_contract(context, talos.contract)
    _check_kubernetes(context)
    proxmox = estate.proxmox
    if proxmox is None:
        return
    for cluster in (proxmox, *proxmox.clusters):
        if cluster.version is not None:
            name = f"Proxmox VE {cluster.version}"
            fit = support.proxmox_fits(cluster.version)
            _report(context, _PROXMOX, name, fit, cluster.where("version"))


def _check_kubernetes(context: Context) -> None:
    talos, kubernetes = context.estate.talos, context.estate.kubernetes
    if kubernetes.version is None:
        return
    running = talos.version or support.talos_lines()[-1].newest
    if support.talos_line(running) is None:
        return
    fit = support.kubernetes_fits(running, kubernetes.version)
    name = f"Kubernetes {kubernetes.version}"
    _report(context, _KUBERNETES, name, fit, kubernetes.where("version"))


def _report(
    context: Context, codes: _Codes, name: str, fit: support.Fit, where: Origin | None
) -> None:
    if fit.verdict is support.Verdict.REFUSED:
        context.problems.error(
            codes.unsupported,
            f"{name} is not supported",
            why=fit.because,
            fix=f"choose a version that `stockman versions {codes.topic}` lists",
            at=where,
        )
    elif fit.verdict is support.Verdict.NEWER:
        context.problems.warn(
            codes.newer,
            f"{name} is newer than this stockman knows",
            why=fit.because,
            fix="go on with care, or use a newer stockman",
            at=where,
        )


def _check_contract(context: Context, contract: Version) -> None:
    talos = context.estate.talos
    version = talos.version
    known = support.talos_line(contract) is not None
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
