"""Templates: each is like a node with a VM in its Proxmox cluster, and has a name of its own."""

from __future__ import annotations

from stockman.config.language.node import NodeSection
from stockman.config.rules.context import Context
from stockman.config.rules.placement import clusters_of
from stockman.model.proxmox import ProxmoxCluster, VmTemplate


def check(context: Context) -> None:
    proxmox = context.estate.proxmox
    if proxmox is None:
        return
    nodes = {str(node.name): node for node in context.estate.nodes}
    clusters = clusters_of(proxmox)
    for cluster in clusters:
        named: set[str] = set()
        for template in cluster.templates:
            _check_like(context, cluster, template, nodes, single=len(clusters) == 1)
            if template.name in named:
                context.problems.error(
                    "template.name-taken",
                    f"two templates of {cluster.region} are called {template.name}",
                    why="others find a template by its name",
                    fix="give each a name of its own",
                    at=template.where("name"),
                )
            named.add(template.name)


def _check_like(
    context: Context,
    cluster: ProxmoxCluster,
    template: VmTemplate,
    nodes: dict[str, NodeSection],
    *,
    single: bool,
) -> None:
    node = nodes.get(str(template.like))
    vm = node.vm if node is not None else None
    if vm is not None and (single or vm.region == cluster.region):
        return
    if node is None:
        why = f"there is no node {template.like}"
    elif vm is None:
        why = f"node {template.like} has no `vm:` block"
    else:
        why = f"node {template.like} is in {vm.region}, and the template in {cluster.region}"
    context.problems.error(
        "template.like",
        f"the template {template.name} is like no VM of its Proxmox cluster",
        why=why,
        fix="name a node with a VM there, whose image and hardware it is to have",
        at=template.where("like"),
    )
