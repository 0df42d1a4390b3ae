"""Every problem of components, made out of what its page shows.

The block of a page stands first in cluster.yaml, so that lines are those of the block; the rest
comes from a preset.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
import yaml

from stockman.catalog.component import InputFiles
from stockman.catalog.selection import select_components
from stockman.config.load import load
from stockman.config.presets import render_preset
from stockman.config.resolve import resolve
from stockman.config.writers.yaml_writer import render_yaml
from stockman.model.desired import Desired
from stockman.model.errors import StockmanError
from stockman.model.problem import Problem, Problems
from tests.catalog.estates import MATERIALS
from tests.model.page_files import shown

SHARED_KEY = "age1lggyhqrw2nlhcxprm67z43rta597azn8gknawjehu9d9dl0jq3yqqvfafg"
"""Recipient that the page of backup.same-key shows."""


def estate(code: str, preset: str) -> Desired:
    """The configuration of a page."""
    texts = render_preset(preset)
    block = shown(code)
    content = yaml.safe_load(texts["cluster.yaml"])
    values = {key: value for key, value in content.items() if key not in yaml.safe_load(block)}
    texts = {**texts, "cluster.yaml": f"{block}{render_yaml(values)}"}
    return resolve(load({name: text.encode() for name, text in texts.items()}))


def told(
    code: str,
    *,
    preset: str = "three-node",
    materials: InputFiles = MATERIALS,
    change: Callable[[Desired], Desired] = lambda desired: desired,
) -> Problem:
    """The problem of a code that the configuration of its page has."""
    desired = change(estate(code, preset))
    problems = Problems()
    assert desired.cluster is not None
    select_components(desired, desired.cluster, materials, "classic", problems)
    (only,) = [problem for problem in problems if problem.code == code]
    return only


def without_proxmox(desired: Desired) -> Desired:
    return replace(desired, proxmox=())


def without_endpoint(desired: Desired) -> Desired:
    return replace(desired, proxmox=tuple(replace(item, endpoint=None) for item in desired.proxmox))


def with_half_a_driver(desired: Desired) -> Desired:
    driver = ("siderolabs/nvidia-open-gpu-kernel-modules-lts",)
    first, *remaining = desired.nodes
    schematic = replace(first.schematic, id=None, extensions=driver, origins={})
    half = replace(first, schematic=schematic)
    return replace(desired, nodes=(half, *remaining))


def without_drivers(desired: Desired) -> Desired:
    nodes = tuple(
        replace(node, schematic=replace(node.schematic, id=None, extensions=()))
        for node in desired.nodes
    )
    return replace(desired, nodes=nodes)


def of_one_node(desired: Desired) -> Desired:
    return replace(desired, nodes=desired.nodes[:1])


def lacking_a_secret() -> Problem:
    desired = estate("component.secret", "three-node")
    assert desired.cluster is not None
    (selected_component,) = [
        item
        for item in select_components(desired, desired.cluster, MATERIALS, "classic", Problems())
        if item.component.name == "external-dns"
    ]
    with pytest.raises(StockmanError) as caught:
        selected_component.context.require(None, "dns.token")
    return caught.value.problem


MADE_BY_CALL: dict[str, Callable[[], Problem]] = {
    "backup.one-recipient": lambda: told("backup.one-recipient"),
    "backup.post-quantum": lambda: told("backup.post-quantum"),
    "backup.recipient": lambda: told("backup.recipient"),
    "backup.same-key": lambda: told(
        "backup.same-key", materials=replace(MATERIALS, age_recipient=SHARED_KEY)
    ),
    "backup.uncompressed": lambda: told("backup.uncompressed"),
    "ceph.cluster": lambda: told("ceph.cluster"),
    "cilium.authentication": lambda: told("cilium.authentication"),
    "cilium.encryption": lambda: told("cilium.encryption"),
    "cilium.gateway": lambda: told("cilium.gateway"),
    "component.authority": lambda: told("component.authority"),
    "component.insecure": lambda: told("component.insecure"),
    "component.no-token": lambda: told("component.no-token"),
    "component.no-endpoint": lambda: told("component.no-endpoint", change=without_endpoint),
    "component.no-proxmox": lambda: told("component.no-proxmox", change=without_proxmox),
    "component.proxy-password": lambda: told("component.proxy-password"),
    "component.secret": lacking_a_secret,
    "component.transformation": lambda: told("component.transformation"),
    "component.unknown-secret": lambda: told("component.unknown-secret"),
    "component.unlabelled": lambda: told("component.unlabelled"),
    "component.useless": lambda: told("component.useless", change=of_one_node),
    "csi.default": lambda: told("csi.default"),
    "csi.passphrase": lambda: told("csi.passphrase"),
    "csi.replication": lambda: told("csi.replication"),
    "csi.snapshots": lambda: told("csi.snapshots"),
    "csi.storage": lambda: told("csi.storage"),
    "karpenter.factory": lambda: told("karpenter.factory", preset="fifteen-node"),
    "karpenter.like": lambda: told("karpenter.like"),
    "karpenter.limits": lambda: told("karpenter.limits"),
    "karpenter.storage": lambda: told("karpenter.storage"),
    "karpenter.template": lambda: told("karpenter.template", preset="fifteen-node"),
    "monitoring.nowhere": lambda: told("monitoring.nowhere"),
    "multus.dhcp": lambda: told("multus.dhcp"),
    "multus.gateway": lambda: told("multus.gateway"),
    "multus.link": lambda: told("multus.link"),
    "multus.twice": lambda: told("multus.twice"),
    "nvidia.extensions": lambda: told("nvidia.extensions", change=with_half_a_driver),
    "nvidia.no-driver": lambda: told("nvidia.no-driver", change=without_drivers),
    "tunnel.missing": lambda: told("tunnel.missing", materials=replace(MATERIALS, tunnel=None)),
    "tuppr.path": lambda: told("tuppr.path"),
}
