"""Settings of Karpenter: what its nodes are like, and how many there may be."""

from __future__ import annotations

import re
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
from stockman.model.problem import Problems
from stockman.model.proxmox import VmTemplate
from stockman.model.record import record

_NAMED_SERVER = re.compile(r"https?://[a-zA-Z0-9.-]+\.[a-zA-Z]{2,}(/\S*)?")
"""What the custom resource takes as the address of an image."""
Family = Literal["c1", "t1", "s1", "m1", "x1"]


@record
class KarpenterSettings(Traced):
    """New nodes are workers with the image and configuration of one that is described."""

    like: NodeNameText | None = None
    """Worker whose image and configuration new nodes get; they take their address from DHCP."""
    cpu_limit: Annotated[int, Between(1, 10_000)] | None = None
    """CPUs that all its nodes may have together. Needed: without it a mistake fills the hosts."""
    memory_limit: Annotated[str, QUANTITY] | None = None
    """Memory that all its nodes may have together, `128Gi`. Needed."""
    template: Annotated[str, DNS_LABEL] | None = None
    """Template under `proxmox.templates` that new nodes are made from, with the image of the same
    node. None: Karpenter makes one of its own."""
    families: tuple[Family, ...] = ("t1", "s1")
    """Families of sizes: memory per CPU is 2 (c1), 3 (t1), 4 (s1), 8 (m1) or 16 GiB (x1)."""
    region: RegionText | None = None
    """Proxmox cluster. None: the first."""
    bridge: BridgeText = "vmbr0"  # type: ignore[assignment]  # a literal of the NewType
    """Bridge of the network card."""
    vlan: Vlan | None = None
    """VLAN of the card. None: untagged."""
    disk_gb: Annotated[int, Between(10, 131_072, "GiB")] = 32
    """System disk."""
    idle: DurationText = "5m"
    """How long a node has to be empty, or hardly used, before it goes."""


def settings_of(scene: ComponentContext) -> KarpenterSettings:
    """The component's settings."""
    settings = scene.settings
    return settings if isinstance(settings, KarpenterSettings) else KarpenterSettings()


def template_of(scene: ComponentContext) -> VmTemplate | None:
    """The template that stockman makes for it. None: Karpenter makes one of its own."""
    settings = settings_of(scene)
    region = settings.region or scene.desired.proxmox[0].region
    for cluster in scene.desired.proxmox:
        for template in cluster.templates:
            if cluster.region == region and template.name == settings.template:
                return template
    return None


def check(scene: ComponentContext, problems: Problems) -> None:
    """Refuse nodes without limits, and nodes like one that cannot be copied."""
    check_proxmox(scene, problems)
    settings = settings_of(scene)
    if settings.cpu_limit is None or settings.memory_limit is None:
        problems.error(
            "karpenter.limits",
            "karpenter has no limits",
            why="without them, one deployment with too many replicas fills every host",
            fix="set cpu_limit and memory_limit in components.karpenter.settings",
            at=scene.wish.where("settings") or scene.wish.where("enabled"),
        )
    if scene.wish.storage is None:
        problems.error(
            "karpenter.storage",
            "karpenter has no storage",
            why="images and disks of its nodes have to be somewhere",
            fix="set components.karpenter.storage",
            at=scene.wish.where("enabled"),
        )
    workers = [node.name for node in scene.desired.nodes if not node.is_controller]
    if settings.like not in workers:
        problems.error(
            "karpenter.like",
            "karpenter does not know what its nodes are like",
            why=f"{settings.like} is no worker" if settings.like else "settings.like is not set",
            fix=f"name a worker, such as {workers[0]}" if workers else "add a worker to the nodes",
            at=settings.where("like") or scene.wish.where("enabled"),
        )
    if settings.template is not None and scene.desired.proxmox:
        _check_template(scene, settings, problems)
    if settings.template is None:
        _check_factory(scene, settings, problems)


def _check_factory(
    scene: ComponentContext, settings: KarpenterSettings, problems: Problems
) -> None:
    talos = scene.cluster.talos
    if _NAMED_SERVER.fullmatch(talos.factory_url):
        return
    problems.error(
        "karpenter.factory",
        "karpenter cannot fetch images from this factory",
        why=f"its ProxmoxTemplate takes a server by its name only, without a port, and the factory"
        f" is {talos.factory_url}",
        fix=f"describe a template under proxmox.templates with `like: {settings.like}`, which"
        " stockman makes, and name it in components.karpenter.settings.template",
        at=settings.where("like") or scene.wish.where("enabled"),
    )


def _check_template(
    scene: ComponentContext, settings: KarpenterSettings, problems: Problems
) -> None:
    template = template_of(scene)
    if template is not None and template.like == settings.like:
        return
    why = f"proxmox.templates has none of the name {settings.template}"
    if template is not None:
        why = f"{template.name} is like {template.like}, and its nodes are like {settings.like}"
    problems.error(
        "karpenter.template",
        "karpenter has no template for its nodes",
        why=why,
        fix=f"describe one under proxmox.templates with `like: {settings.like}`, or leave"
        " settings.template out",
        at=settings.where("template"),
    )
