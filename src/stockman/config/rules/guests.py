"""Rules for guests and hosts."""

from __future__ import annotations

from stockman.config.nearest import nearest_name
from stockman.config.rules.context import RuleContext
from stockman.config.rules.vms import proxmox_clusters
from stockman.model.origin import Origin


def check_guests(context: RuleContext) -> None:
    """Check guests, their hosts and images, and names on hosts."""
    known = _known_hosts(context)
    for guest in context.configuration.guests:
        if (guest.vm is None) == (guest.container is None):
            both = guest.vm is not None
            context.problems.error(
                "guest.form",
                f"guest {guest.name} is not one thing",
                why="it is a VM and a container" if both else "it is neither a VM nor a container",
                fix="give `vm:`, or `container:`, not both",
                at=guest.where(),
            )
        if known and guest.host not in known:
            near = nearest_name(guest.host, known)
            context.problems.error(
                "host.unknown",
                f"guest {guest.name} uses a host that is not listed",
                why=f"{guest.host} is none of {', '.join(sorted(known))}",
                fix=f"write {near}" if near else f"add {guest.host} to the Proxmox hosts",
                at=guest.where("host"),
            )
        image = guest.vm.image if guest.vm is not None else None
        if image is not None and (image.url is None) == (image.volume is None):
            context.problems.error(
                "guest.image",
                f"guest {guest.name} has an image that is not named once",
                why="exactly one of `url` and `volume` says where it comes from",
                fix="give `url`, or `volume`, not both",
                at=image.where(),
            )
    for host in context.configuration.hosts.values():
        _check_names(
            context, "storage", [(storage.name, storage.where("name")) for storage in host.storages]
        )
        _check_names(context, "pool", [(pool.name, pool.where("name")) for pool in host.pools])
        _check_names(
            context, "bridge", [(bridge.name, bridge.where("name")) for bridge in host.bridges]
        )


def _known_hosts(context: RuleContext) -> set[str]:
    proxmox = context.configuration.proxmox
    if proxmox is None:
        return set()
    return {name for cluster in proxmox_clusters(proxmox) for name in cluster.hosts}


def _check_names(context: RuleContext, kind: str, names: list[tuple[str, Origin | None]]) -> None:
    names_in_use: set[str] = set()
    for name, origin in names:
        if name in names_in_use:
            context.problems.error(
                "host.name-taken",
                f"a host has two {kind}s called {name}",
                why="the second would replace the first",
                fix=f"give each {kind} a name of its own",
                at=origin,
            )
        names_in_use.add(name)
