"""Settings of Karpenter: type and limits of its nodes."""

from __future__ import annotations

from typing import Annotated, Literal

from stockman.catalog.component import ComponentContext
from stockman.catalog.proxmox_config import check_proxmox
from stockman.model.formats import (
    DNS_LABEL,
    QUANTITY,
    Between,
    BridgeText,
    DurationText,
    NodeNameText,
    RegionText,
    Vlan,
)
from stockman.model.origin import Traced
from stockman.model.pattern import pattern
from stockman.model.problem import Problems
from stockman.model.proxmox import VmTemplate
from stockman.model.record import record

_NAMED_SERVER = pattern(r"https?://[a-zA-Z0-9.-]+\.[a-zA-Z]{2,}(/\S*)?")
"""Image URLs that the custom resource accepts."""
Family = Literal["c1", "t1", "s1", "m1", "x1"]


@record
class KarpenterSettings(Traced):
    """New nodes are workers with the image and configuration of an existing worker."""

    like: NodeNameText | None = None
    """Worker whose image and machine configuration new nodes get; their address is assigned by
    DHCP."""
    cpu_limit: Annotated[int, Between(1, 10_000)] | None = None
    """Maximum number of CPUs of all its nodes. Required: a mistake could fill all hosts without it.
    """
    memory_limit: Annotated[str, QUANTITY] | None = None
    """Maximum memory of all its nodes, `128Gi`. Required."""
    template: Annotated[str, DNS_LABEL] | None = None
    """Template in `proxmox.templates` for new nodes, with the image of the same worker. None:
    Karpenter creates its own."""
    families: tuple[Family, ...] = ("t1", "s1")
    """Instance families: memory per CPU is 2 (c1), 3 (t1), 4 (s1), 8 (m1) or 16 GiB (x1)."""
    region: RegionText | None = None
    """Proxmox cluster. None: the first one."""
    bridge: BridgeText = "vmbr0"  # type: ignore[assignment]  # a literal of the NewType
    """Bridge of the network interface."""
    vlan: Vlan | None = None
    """VLAN of the network interface. None: untagged."""
    disk_gb: Annotated[int, Between(10, 131_072, "GiB")] = 32
    """Size of the system disk."""
    idle: DurationText = "5m"
    """How long a node has to be empty or underused before it is removed."""


def template_of(context: ComponentContext) -> VmTemplate | None:
    """Return the template that stockman creates for it. None: Karpenter creates its own."""
    settings = context.settings_as(KarpenterSettings)
    region = settings.region or context.desired.proxmox[0].region
    for cluster in context.desired.proxmox:
        for template in cluster.templates:
            if cluster.region == region and template.name == settings.template:
                return template
    return None


def check(context: ComponentContext, problems: Problems) -> None:
    """Require limits, and a worker that can be copied."""
    check_proxmox(context, problems)
    settings = context.settings_as(KarpenterSettings)
    if settings.cpu_limit is None or settings.memory_limit is None:
        problems.error(
            "karpenter.limits",
            "karpenter has no limits",
            why="without them, one deployment with too many replicas fills every host",
            fix="set cpu_limit and memory_limit in components.karpenter.settings",
            at=context.options.where("settings") or context.options.where("enabled"),
        )
    if context.options.storage is None:
        problems.error(
            "karpenter.storage",
            "karpenter has no storage",
            why="images and disks of its nodes need a storage",
            fix="set components.karpenter.storage",
            at=context.options.where("enabled"),
        )
    workers = [node.name for node in context.desired.nodes if not node.is_controller]
    if settings.like not in workers:
        problems.error(
            "karpenter.like",
            "karpenter has no worker to copy",
            why=f"{settings.like} is not a worker" if settings.like else "settings.like is not set",
            fix=f"set it to a worker, such as {workers[0]}"
            if workers
            else "add a worker to the nodes",
            at=settings.where("like") or context.options.where("enabled"),
        )
    if settings.template is not None and context.desired.proxmox:
        _check_template(context, settings, problems)
    if settings.template is None:
        _check_factory(context, settings, problems)


def _check_factory(
    context: ComponentContext, settings: KarpenterSettings, problems: Problems
) -> None:
    talos = context.cluster.talos
    if _NAMED_SERVER.fullmatch(talos.factory_url):
        return
    problems.error(
        "karpenter.factory",
        "karpenter cannot download images from this Image Factory",
        why="its ProxmoxTemplate needs a host name with a domain and no port, but the "
        f"factory is {talos.factory_url}",
        fix=f"add a template with `like: {settings.like}` to proxmox.templates, which "
        "stockman creates, and set components.karpenter.settings.template to it",
        at=settings.where("like") or context.options.where("enabled"),
    )


def _check_template(
    context: ComponentContext, settings: KarpenterSettings, problems: Problems
) -> None:
    template = template_of(context)
    if template is not None and template.like == settings.like:
        return
    why = f"proxmox.templates has no entry {settings.template}"
    if template is not None:
        why = f"{template.name} is a copy of {template.like}, but the nodes copy {settings.like}"
    problems.error(
        "karpenter.template",
        "karpenter has no template for its nodes",
        why=why,
        fix=f"add one to proxmox.templates with `like: {settings.like}`, or remove "
        "settings.template",
        at=settings.where("template"),
    )
