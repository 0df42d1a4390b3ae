"""Values of a request about a container: permitted, checked, canonical."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NoReturn

from stockman_lab.pve.api.call import Call
from stockman_lab.pve.cluster import Cluster
from stockman_lab.pve.errors import ApiError, bad_parameters, die
from stockman_lab.pve.formats.format_error import FormatError
from stockman_lab.pve.formats.nic import DEFAULT_PREFIX
from stockman_lab.pve.guest import Guest
from stockman_lab.pve.guest_config.canonical import canonical_container
from stockman_lab.pve.guest_config.change import Change, read_container_change
from stockman_lab.pve.guest_config.container_needs import (
    container_key_needs,
    container_update_needs,
)
from stockman_lab.pve.guest_config.container_update import plan_container_update
from stockman_lab.pve.guest_config.needs import Guest as Owner
from stockman_lab.pve.guest_config.state import GuestConfig
from stockman_lab.pve.guest_config.surroundings import Surroundings
from stockman_lab.pve.lxc.volumes import MountMaker, check_content, free_all, shelf_of
from stockman_lab.pve.qemu.rights import check_needs
from stockman_lab.pve.qemu.settings import tag_rules, tag_style
from stockman_lab.pve.qemu.shelf import Shelf


def settled_change(call: Call, config: GuestConfig, parameters: Mapping[str, str]) -> Change:
    """The change that a request asks for, if the caller may ask for it."""
    change = read_container_change(parameters)
    try:
        check_needs(call, container_update_needs(config.values, change, owner(call)))
        change.sets = canonical(call, change.sets)
    except FormatError as error:
        refuse_format(error)
    return change


def settled_values(
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


def update(cluster: Cluster, guest: Guest, change: Change) -> None:
    """Write a change down and apply what can be applied now; with errors nothing is written."""
    shelf = shelf_of(cluster, guest)
    maker = MountMaker(shelf)
    surroundings = Surroundings(
        vmid=guest.vmid,
        running=guest.is_running,
        owns=shelf.owns,
        mounted=maker,
        tag_style=tag_style(cluster.state.options),
    )
    try:
        check_content(shelf, change.sets)
        outcome = plan_container_update(guest.config, change, surroundings)
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
