"""Values of a request about a container: permitted, checked, canonical."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NoReturn

from stockman_lab.pve.api.call import Call
from stockman_lab.pve.errors import bad_parameters, die
from stockman_lab.pve.formats.format_error import FormatError
from stockman_lab.pve.formats.mac import DEFAULT_PREFIX
from stockman_lab.pve.guest_config.canonical import canonical_container
from stockman_lab.pve.guest_config.change import Change, read_container_change
from stockman_lab.pve.guest_config.container_needs import (
    container_key_needs,
    container_update_needs,
)
from stockman_lab.pve.guest_config.state import GuestConfig
from stockman_lab.pve.guest_config.volume_needs import Guest as Owner
from stockman_lab.pve.qemu.rights import check_needs
from stockman_lab.pve.qemu.settings import tag_rules
from stockman_lab.pve.qemu.shelf import Shelf

_KEY_TYPES = ("ssh-", "ecdsa-", "sk-")


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


def check_keys(text: str) -> None:
    """Refuse what is no list of public keys."""
    for line in filter(str.strip, text.split("\n")):
        words = line.split()
        if words[0].startswith("#"):
            continue
        if not any(word.startswith(_KEY_TYPES) for word in words[:-1]):
            raise die("SSH public key validation error")


def refuse_together(message: str, *names: str) -> NoReturn:
    """Refuse parameters that do not go together."""
    raise bad_parameters(dict.fromkeys(names, message))
