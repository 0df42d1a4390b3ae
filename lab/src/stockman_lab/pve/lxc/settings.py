"""Values of requests about containers, their changes, and rows about them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NoReturn

from stockman_lab.pve.api.call import Call
from stockman_lab.pve.cluster import Cluster
from stockman_lab.pve.errors import ApiError, bad_parameters, die
from stockman_lab.pve.formats.format_error import FormatError
from stockman_lab.pve.formats.nic import DEFAULT_PREFIX
from stockman_lab.pve.formats.sizes import GIB, MIB
from stockman_lab.pve.guest import Guest
from stockman_lab.pve.guest_config.change import (
    ConfigChange,
    canonical_container,
    read_container_change,
)
from stockman_lab.pve.guest_config.container_needs import (
    container_key_needs,
    container_update_needs,
)
from stockman_lab.pve.guest_config.container_update import plan_container_update
from stockman_lab.pve.guest_config.context import GuestContext
from stockman_lab.pve.guest_config.needs import Guest as Owner
from stockman_lab.pve.guest_config.state import GuestConfig
from stockman_lab.pve.guest_rows import (
    container_cpus,
    disk_of,
    memory_of,
    uptime_of,
    used_memory_of,
)
from stockman_lab.pve.ha_manager import resource_of
from stockman_lab.pve.lxc.volumes import MountMaker, check_content, free_all, shelf_of
from stockman_lab.pve.qemu.settings import check_needs, tag_rules, tag_style
from stockman_lab.pve.qemu.shelf import Shelf


def settle_change(call: Call, config: GuestConfig, parameters: Mapping[str, str]) -> ConfigChange:
    """The change that a request asks for, if the caller may ask for it."""
    change = read_container_change(parameters)
    try:
        check_needs(call, container_update_needs(config.values, change, owner(call)))
        change.sets = canonical(call, change.sets)
    except FormatError as error:
        refuse_format(error)
    return change


def settle_values(
    call: Call, values: Mapping[str, str], pool: str, *, unprivileged: bool
) -> dict[str, str]:
    """The values that a new container is asked to have, if the caller may ask for them."""
    known = {"unprivileged": str(int(unprivileged))}
    found = owner(call, creating=True)
    try:
        needs = [
            need
            for key in sorted(values)
            for need in container_key_needs(found, key, known, values[key])
        ]
        check_needs(call, needs, pool)
        return canonical(call, values)
    except FormatError as error:
        refuse_format(error)


def canonical(call: Call, sets: Mapping[str, str]) -> dict[str, str]:
    """Values as they are written down: cards have addresses."""
    prefix = call.cluster.state.options.get("mac_prefix", DEFAULT_PREFIX)
    return canonical_container(sets, call.cluster.around.dice, prefix)


def owner(call: Call, *, creating: bool = False) -> Owner:
    """The container that a request is about."""
    shelf = Shelf(call.cluster, call.node, call.vmid)
    return Owner(call.vmid, shelf.name_of, creating=creating, tag_rules=tag_rules(call))


def refuse_format(error: FormatError) -> NoReturn:
    """Refuse a text that does not fit its format."""
    raise die(error.text) from None


def update(cluster: Cluster, guest: Guest, change: ConfigChange) -> None:
    """Write a change down and apply what can be applied now; with errors nothing is written."""
    shelf = shelf_of(cluster, guest)
    maker = MountMaker(shelf)
    context = GuestContext(
        vmid=guest.vmid,
        running=guest.is_running,
        owns=shelf.owns,
        mounted=maker,
        tag_style=tag_style(cluster.state.options),
    )
    try:
        check_content(shelf, change.sets)
        outcome = plan_container_update(guest.config, change, context)
    except FormatError as error:
        maker.undo()
        raise die(error.text) from None
    except ApiError:
        maker.undo()
        raise
    if outcome.errors:
        maker.undo()
        raise bad_parameters(outcome.errors)
    list(free_all(shelf, outcome.freed))
    guest.changed_at = cluster.now
    cluster.changed()


_DEFAULT_DISK = 4 * GIB
_USED_SHARE = 0.1
"""Of its root that a running container uses."""
_PRESSURES = (*("cpusome", "cpufull", "iosome", "iofull", "memorysome", "memoryfull"),)


def list_row(cluster: Cluster, guest: Guest) -> dict[str, object]:
    """A container in the list of its host."""
    values = guest.config.values
    running = guest.is_running
    size = disk_of(cluster, guest) or _DEFAULT_DISK
    row: dict[str, object] = {
        "vmid": guest.vmid,
        "type": "lxc",
        "status": guest.status,
        "name": guest.name,
        "cpus": container_cpus(cluster, guest),
        "cpu": 0.01 if running else 0,
        "mem": used_memory_of(guest),
        "maxmem": memory_of(guest),
        "swap": 0,
        "maxswap": int(values.get("swap", "0")) * MIB,
        "disk": int(size * _USED_SHARE) if running else 0,
        "maxdisk": size,
        "diskread": 0,
        "diskwrite": 0,
        "netin": 0,
        "netout": 0,
        "uptime": uptime_of(cluster, guest),
    }
    if guest.is_template:
        row["template"] = 1
    for key in ("lock", "tags"):
        if values.get(key):
            row[key] = values[key]
    if running:
        row["pid"] = guest.pid
        if cluster.is_nine:
            row |= {f"pressure{name}": 0 for name in _PRESSURES}
    return row


def status_row(cluster: Cluster, guest: Guest) -> dict[str, object]:
    """Everything about a container as it is now."""
    section = resource_of(cluster, guest)
    ha: dict[str, object] = {"managed": 0}
    if section is not None:
        ha = {"managed": 1, "state": section.options.get("state", "started")}
    return {**list_row(cluster, guest), "ha": ha}
