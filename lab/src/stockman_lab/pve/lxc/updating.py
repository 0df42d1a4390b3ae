"""A change of a container's configuration, and what it does outside of it."""

from __future__ import annotations

from stockman_lab.pve.cluster import Cluster
from stockman_lab.pve.errors import ApiError, bad_parameters, die
from stockman_lab.pve.formats.format_error import FormatError
from stockman_lab.pve.guest import Guest
from stockman_lab.pve.guest_config.change import Change
from stockman_lab.pve.guest_config.container_update import plan_container_update
from stockman_lab.pve.guest_config.surroundings import Surroundings
from stockman_lab.pve.lxc.volumes import MountMaker, check_content, free_all, shelf_of
from stockman_lab.pve.qemu.settings import tag_style


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
