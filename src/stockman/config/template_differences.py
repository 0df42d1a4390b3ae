"""Settings of cluster-template that its files do not contain, and the keys that restore them.

cluster-template has these values in its templates, so files that were moved here lose them. Source:
the tag 2026.5.0 (classic) and the commit ae732464 (toml) of onedr0p/cluster-template.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from stockman.config.language import Configuration
from stockman.model.origin import Traced
from stockman.model.problem import Problems


class TemplateDifference(NamedTuple):
    """A setting that differs for files of cluster-template."""

    name: str
    template: str
    """Value in cluster-template."""
    here: str
    """Value here."""
    key: str
    """Key that restores the value."""
    paths: tuple[str, ...]
    """Where the difference appears in machine configurations. Empty: in the cluster."""
    decided: Callable[[Configuration], bool]
    """Whether the files already have a key for it."""


def _has(section: Callable[[Configuration], Traced], key: str) -> Callable[[Configuration], bool]:
    return lambda estate: key in section(estate).origins


def _talos(estate: Configuration) -> Traced:
    return estate.talos


def _arguments(key: str) -> Callable[[Configuration], bool]:
    return _has(lambda estate: estate.kubernetes.extra_args, key)


def _has_patch(scope: str) -> Callable[[Configuration], bool]:
    return _has(lambda estate: estate.talos.patches, scope)


DIFFERENCES: tuple[TemplateDifference, ...] = (
    TemplateDifference(
        "the format of machine configurations",
        "that of Talos 1.13",
        "that of the newest Talos",
        "talos.contract",
        (),
        _has(_talos, "contract"),
    ),
    TemplateDifference(
        "the installer",
        "the image for metal",
        "the image for nocloud",
        "talos.platform",
        ("machine.install.image",),
        _has(_talos, "platform"),
    ),
    TemplateDifference(
        "nine sysctls",
        "limits of inotify, network buffers, ARP caches and user namespaces",
        "the defaults of Talos",
        "talos.sysctls",
        ("machine.sysctls",),
        _has(_talos, "sysctls"),
    ),
    TemplateDifference(
        "settings of containerd",
        "unpacked layers are kept, and devices belong to the user of a container",
        "the defaults of Talos",
        "talos.patches.all",
        ("machine.files", "CRICustomizationConfig"),
        _has_patch("all"),
    ),
    TemplateDifference(
        "settings of the kubelet",
        "images are pulled in parallel",
        "images are pulled one after the other",
        "talos.kubelet.extra_config",
        ("machine.kubelet.extraConfig", "KubeletConfig: config"),
        _has(lambda estate: estate.talos.kubelet, "extra_config"),
    ),
    TemplateDifference(
        "workloads on controllers",
        "allowed",
        "allowed only without workers",
        "kubernetes.schedule_on_controllers",
        ("cluster.allowSchedulingOnControlPlanes",),
        lambda estate: (
            "schedule_on_controllers" in estate.kubernetes.origins
            or all(node.controller for node in estate.nodes)
        ),
    ),
    TemplateDifference(
        "PodSecurity",
        "no admission control",
        "`enforce: baseline` in all namespaces but kube-system",
        "talos.patches.controller",
        ("cluster.apiServer.admissionControl", "KubeAdmissionControlConfig"),
        _has_patch("controller"),
    ),
    TemplateDifference(
        "arguments of the API server",
        "enable-aggregator-routing",
        "none",
        "kubernetes.extra_args.api_server",
        ("cluster.apiServer.extraArgs", "KubeAPIServerConfig: extraArgs"),
        _arguments("api_server"),
    ),
    TemplateDifference(
        "metrics of the controller manager",
        "on every address",
        "on the loopback address",
        "kubernetes.extra_args.controller_manager",
        ("cluster.controllerManager.extraArgs", "KubeControllerManagerConfig: extraArgs"),
        _arguments("controller_manager"),
    ),
    TemplateDifference(
        "metrics of the scheduler",
        "on every address",
        "on the loopback address",
        "kubernetes.extra_args.scheduler",
        ("cluster.scheduler.extraArgs", "KubeSchedulerConfig: extraArgs"),
        _arguments("scheduler"),
    ),
    TemplateDifference(
        "metrics of etcd",
        "on every address, port 2381",
        "none without a client certificate",
        "kubernetes.extra_args.etcd",
        ("cluster.etcd.extraArgs",),
        _arguments("etcd"),
    ),
    TemplateDifference(
        "addresses for LoadBalancer services",
        "the whole node network",
        "the addresses of the gateways",
        "cilium.loadbalancer_pool",
        (),
        _has(lambda estate: estate.cilium, "loadbalancer_pool"),
    ),
    TemplateDifference(
        "the owner of DNS records",
        "`default`",
        "the name of the cluster",
        "components.external-dns",
        (),
        lambda estate: estate.dns.provider == "none" or "external-dns" in estate.components,
    ),
)


def restoring_key(path: str) -> str:
    """Return the key that restores a value of cluster-template at a path of a machine
    configuration; empty: it is none of them."""
    for difference in DIFFERENCES:
        if any(path == known or path.startswith(known) for known in difference.paths):
            return difference.key
    return ""


def is_from_template(estate: Configuration) -> bool:
    """Return whether files may come from cluster-template, which requires a schematic for every
    node and knows neither extensions nor classes."""
    talos = estate.talos
    return (
        bool(estate.nodes)
        and not estate.classes
        and not {"patch_order", "extensions", "kernel_args", "schematic"} & talos.origins.keys()
        and all(node.schematic_id or talos.schematic_id for node in estate.nodes)
    )


def undecided_differences(
    estate: Configuration, *, has_patch_files: bool
) -> Iterator[TemplateDifference]:
    """Yield differences for which files of cluster-template have no key yet."""
    if not is_from_template(estate):
        return
    for difference in DIFFERENCES:
        covered = has_patch_files and bool(difference.paths)
        if not covered and not difference.decided(estate):
            yield difference


def check_template_differences(
    estate: Configuration, problems: Problems, *, has_patch_files: bool
) -> None:
    """Report what files of cluster-template lose here, each setting with the key that restores
    it."""
    left = list(undecided_differences(estate, has_patch_files=has_patch_files))
    if left:
        listed = ", ".join(f"{difference.name} ({difference.key})" for difference in left)
        problems.warn(
            "config.template-difference",
            "cluster-template has settings that are not in its files, and that differ here",
            why=f"they are {listed}",
            fix='write these keys; "Move from cluster-template" in the documentation has the values'
            " of cluster-template",
            at=estate.nodes[0].where(),
        )
