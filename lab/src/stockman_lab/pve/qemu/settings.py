"""Values of a request, from parameters to what is written down: permitted, checked, canonical."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from urllib.parse import unquote

from stockman_lab.pve.api.call import Call
from stockman_lab.pve.cloudinit.password import kept_password, salt
from stockman_lab.pve.errors import ApiError, bad_parameters, die
from stockman_lab.pve.formats.format_error import FormatError
from stockman_lab.pve.formats.lists import PLAIN, TagStyle
from stockman_lab.pve.formats.nic import DEFAULT_PREFIX
from stockman_lab.pve.guest_config.change import (
    ConfigChange,
    canonical_drives,
    canonical_machine,
    read_machine_change,
)
from stockman_lab.pve.guest_config.machine_needs import machine_create_needs, machine_update_needs
from stockman_lab.pve.guest_config.needs import Asked, Need, OnlyRoot, TagRules, tag_needs
from stockman_lab.pve.guest_config.needs import Guest as Owner
from stockman_lab.pve.guest_config.state import GuestConfig
from stockman_lab.pve.qemu.drives import check_sources
from stockman_lab.pve.qemu.shelf import Shelf

ONLY_ROOT = "Only root may use this option."


def check_needs(call: Call, needs: Iterable[Asked], pool: str = "") -> None:
    """Refuse at the first thing that the caller may not have; root may have everything."""
    if call.caller.is_root:
        return
    for need in needs:
        if need.moot_with is not None and call.may(*need.moot_with):
            continue
        if isinstance(need, OnlyRoot):
            raise need.error
        _check(call, need, pool)


def _check(call: Call, need: Need, pool: str) -> None:
    privileges = need.privileges
    if need.on_guest and pool and call.may(f"/pool/{pool}", *privileges, any_of=need.any_of):
        return
    if need.said and not call.may(need.path, *privileges, any_of=need.any_of):
        raise ApiError(403, f"Permission check failed ({need.said})")
    call.check(need.path, *privileges, any_of=need.any_of)


def only_for_root(call: Call, *names: str) -> None:
    """Refuse parameters that nobody but root may use."""
    for name in names:
        if call.params.get(name) and not call.caller.is_root:
            raise bad_parameters({name: ONLY_ROOT})


_KEY_TYPES = ("ssh-", "ecdsa-", "sk-")


def given_values(call: Call, others: Collection[str]) -> dict[str, str]:
    """Keys of the configuration among the parameters, as texts."""
    return {
        name: str(value)
        for name, value in call.params.items()
        if name not in others and value is not None
    }


def settle_change(call: Call, config: GuestConfig, parameters: Mapping[str, str]) -> ConfigChange:
    """The change that a request asks for, if the caller may ask for it."""
    check_keys(unquote(parameters.get("sshkeys", "")))
    change = read_machine_change(parameters)
    shelf = Shelf(call.cluster, call.node, call.vmid)
    owner = _owner(call, shelf, creating=False)
    try:
        needs = machine_update_needs(config.values, config.pending, change, owner)
        check_needs(call, needs)
        change.sets = _canonical(call, shelf, change.sets)
        if change.sets.get("cipassword"):
            # PVE::API2::Qemu hashes in update_vm_api only; create_vm writes it down as it is.
            seed = salt(call.cluster.around.dice.random_bytes(8))
            change.sets["cipassword"] = kept_password(change.sets["cipassword"], seed)
    except FormatError as error:
        raise die(error.text) from None
    return change


def settle_values(call: Call, parameters: Mapping[str, str], pool: str) -> dict[str, str]:
    """The values that a new machine is asked to have, if the caller may ask for them."""
    check_keys(unquote(parameters.get("sshkeys", "")))
    values = dict(parameters)
    cdrom = values.pop("cdrom", "")
    if cdrom:
        values["ide2"] = cdrom if "media=" in cdrom else f"{cdrom},media=cdrom"
    shelf = Shelf(call.cluster, call.node, call.vmid)
    owner = _owner(call, shelf, creating=True)
    try:
        needs: list[Asked] = machine_create_needs(values, owner)
        if "tags" in values:
            needs += tag_needs(owner, "", values["tags"])
        check_needs(call, needs, pool)
        return _canonical(call, shelf, values)
    except FormatError as error:
        raise die(error.text) from None


def _canonical(call: Call, shelf: Shelf, sets: Mapping[str, str]) -> dict[str, str]:
    check_sources(shelf, sets)
    dice = call.cluster.around.dice
    prefix = call.cluster.state.options.get("mac_prefix", DEFAULT_PREFIX)
    return canonical_machine(canonical_drives(sets, shelf), dice, prefix)


def _owner(call: Call, shelf: Shelf, *, creating: bool) -> Owner:
    return Owner(call.vmid, shelf.name_of, creating=creating, tag_rules=tag_rules(call))


def tag_rules(call: Call) -> TagRules:
    """Who may set which tag."""
    options = call.cluster.state.options
    registered = frozenset(
        registered_tag
        for registered_tag in options.get("registered-tags", "").split(";")
        if registered_tag
    )
    access = dict(
        part.split("=", 1) for part in options.get("user-tag-access", "").split(",") if "=" in part
    )
    free = access.get("user-allow", "free")
    listed = frozenset(one for one in access.get("user-allow-list", "").split(";") if one)
    return TagRules(registered, listed if free == "list" else frozenset(), free == "free")


def tag_style(options: Mapping[str, str]) -> TagStyle:
    """What the data centre says about tags."""
    style = dict(
        part.split("=", 1) for part in options.get("tag-style", "").split(",") if "=" in part
    )
    if not style:
        return PLAIN
    return TagStyle(
        case_sensitive=style.get("case-sensitive") == "1",
        keep_order=style.get("ordering") == "config",
    )


def check_keys(text: str) -> None:
    """Refuse what is no list of public keys."""
    for line in filter(str.strip, text.split("\n")):
        words = line.split()
        if words[0].startswith("#"):
            continue
        if not any(word.startswith(_KEY_TYPES) for word in words[:-1]):
            raise die("SSH public key validation error")
