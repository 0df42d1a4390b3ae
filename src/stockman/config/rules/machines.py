"""Rules for machine settings that Talos rejects, or accepts without the intended effect."""

from __future__ import annotations

from datetime import timedelta

from stockman.config.rules.context import RuleContext
from stockman.model import compatibility
from stockman.model.machine import KubeletSettings, MachineSettings
from stockman.model.origin import Origin
from stockman.model.schedule import parse_duration


def contract_line(context: RuleContext) -> tuple[int, int]:
    """Return the contract of the machine configurations."""
    talos = context.configuration.talos
    version = talos.contract or talos.version or compatibility.talos_lines()[-1].newest
    return version.line


def check_contract_support(
    context: RuleContext,
    feature: str,
    at: Origin | None,
    *,
    since: tuple[int, int] = (0, 0),
    until: tuple[int, int] = (99, 0),
) -> None:
    """Report a setting that the contract of the cluster does not support."""
    line = contract_line(context)
    if since <= line <= until:
        return
    too_old = line < since
    known = "since" if too_old else "up to"
    major, minor = since if too_old else until
    context.problems.error(
        "talos.contract-lacks",
        f"machine configurations of contract {line[0]}.{line[1]} have no words for {feature}",
        why=f"Talos has them {known} contract {major}.{minor}",
        fix="raise the contract once all nodes run that Talos, or do without"
        if too_old
        else "do without; in the place of mounts take user volumes",
        at=at,
    )


PROTECTED = (
    "apiVersion",
    "authentication",
    "authorization",
    "cgroupRoot",
    "kind",
    "kubeletCgroups",
    "port",
    "protectKernelDefaults",
    "resolvConf",
    "rotateCertificates",
    "systemCgroups",
    "staticPodPath",
    "seccompDefault",
)
"""Kubelet configuration keys that Talos manages."""

OWNED_ARGUMENTS = (
    "anonymous-auth",
    "oidc-",
    "authentication-config",
    "authorization-config",
    "authorization-mode",
    "authorization-webhook-",
)
"""Prefixes of kube-apiserver arguments that contract 1.14 replaces with documents."""

_MOUNTS_UNTIL = (1, 13)
_DOCUMENTS_FROM = (1, 14)
_SHORTEST_WATCHDOG = timedelta(seconds=10)
_LONGEST_WATCHDOG = timedelta(hours=1)
_DNS_INDEX = 10


def check_machines(context: RuleContext) -> None:
    """Check the kubelet, watchdog, arguments, manifests, DNS and KubeSpan."""
    talos = context.configuration.talos
    for settings in (talos, *(node.talos for node in context.configuration.nodes)):
        _check_kubelet(context, settings.kubelet)
        _check_watchdog(context, settings)
    _check_arguments(context)
    _check_manifests(context)
    _check_dns(context)
    if talos.kubespan and not talos.discovery:
        context.problems.error(
            "kubespan.no-discovery",
            "KubeSpan has nobody to talk to",
            why="talos.kubespan is on, and machines find each other through talos.discovery",
            fix="set `discovery: true`, or `kubespan: false`",
            at=talos.where("kubespan"),
        )


def _check_kubelet(context: RuleContext, kubelet: KubeletSettings) -> None:
    for key in kubelet.extra_config:
        if key in PROTECTED:
            context.problems.error(
                "kubelet.protected-key",
                f"{key} of the kubelet's configuration cannot be set",
                why="Talos keeps it to itself and refuses the machine configuration",
                fix=f"remove {key} from `extra_config`",
                at=kubelet.where("extra_config"),
            )
    if kubelet.extra_mounts:
        at = kubelet.where("extra_mounts")
        check_contract_support(context, "kubelet.extra_mounts", at, until=_MOUNTS_UNTIL)


def _check_watchdog(context: RuleContext, settings: MachineSettings) -> None:
    watchdog = settings.watchdog
    if watchdog is None:
        return
    if not _SHORTEST_WATCHDOG <= parse_duration(watchdog.timeout) <= _LONGEST_WATCHDOG:
        context.problems.error(
            "watchdog.timeout",
            "the watchdog has no time to wait that makes sense",
            why=f"{watchdog.timeout} is not between 10s and 1h; Talos refuses less",
            fix="write for example 1m",
            at=watchdog.where("timeout"),
        )


def _check_arguments(context: RuleContext) -> None:
    kubernetes = context.configuration.kubernetes
    documents = contract_line(context) >= _DOCUMENTS_FROM
    for name in kubernetes.extra_args.api_server:
        twice = kubernetes.oidc is not None and name.startswith("oidc-")
        if twice or (documents and name.startswith(OWNED_ARGUMENTS)):
            context.problems.error(
                "kubernetes.argument",
                f"the argument {name} of kube-apiserver cannot be given",
                why="kubernetes.oidc gives it already"
                if twice
                else "contract 1.14 has documents for logins and rights, and refuses the argument",
                fix="use kubernetes.oidc"
                if name.startswith("oidc-")
                else "remove it, or patch KubeAuthenticationConfig or KubeAuthorizerConfig",
                at=kubernetes.extra_args.where("api_server"),
            )


def _check_manifests(context: RuleContext) -> None:
    for name, manifest in context.configuration.kubernetes.inline_manifests.items():
        if bool(manifest.contents.strip()) == (manifest.file is not None):
            context.problems.error(
                "manifest.form",
                f"the manifest {name} is not given once",
                why="exactly one of `contents` and `file` holds it",
                fix="give `contents`, or `file`, not both",
                at=manifest.where(),
            )


def _check_dns(context: RuleContext) -> None:
    host_dns = context.configuration.talos.host_dns
    needing = [
        name for name in ("forward_kube_dns", "resolve_member_names") if getattr(host_dns, name)
    ]
    if needing and not host_dns.enabled:
        context.problems.error(
            "talos.host-dns",
            "a DNS server is off that would be asked",
            why=f"host_dns.enabled is false, host_dns.{needing[0]} is not",
            fix=f"set `{needing[0]}: false` as well",
            at=host_dns.where("enabled"),
        )
    kubernetes = context.configuration.kubernetes
    coredns = context.configuration.components.get("coredns")
    services = kubernetes.svc_cidr
    if (
        coredns is not None
        and coredns.enabled is False
        and services.num_addresses > _DNS_INDEX
        and kubernetes.coredns_addr not in (None, services[_DNS_INDEX])
    ):
        context.problems.error(
            "kubernetes.coredns-address",
            "the CoreDNS of Talos has another address",
            why=f"kubernetes.coredns_addr is {kubernetes.coredns_addr}; the component coredns is"
            f" off, and that of Talos always has {services[_DNS_INDEX]}",
            fix="remove kubernetes.coredns_addr, or switch the component on",
            at=kubernetes.where("coredns_addr"),
        )
