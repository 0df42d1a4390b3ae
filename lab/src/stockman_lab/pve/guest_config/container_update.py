"""A change of a container's configuration from beginning to end."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from copy import deepcopy
from typing import TypeAlias

from stockman_lab.pve.errors import ApiError, die
from stockman_lab.pve.formats.lists import print_tags, split_list
from stockman_lab.pve.formats.mount_point import is_mount, parse_device, parse_mount_point
from stockman_lab.pve.formats.nic import parse_container_nic
from stockman_lab.pve.guest_config.change import ConfigChange
from stockman_lab.pve.guest_config.context import GuestContext, Outcome
from stockman_lab.pve.guest_config.keys import container_value, is_indexed
from stockman_lab.pve.guest_config.pending import add_unused, forget_unchanged
from stockman_lab.pve.guest_config.state import GuestConfig, container_digest

_Step: TypeAlias = Callable[[GuestConfig, str, GuestContext, Outcome], None]

ALWAYS_LIVE = frozenset(
    {
        *("description", "onboot", "startup", "protection", "hostname"),
        *("hookscript", "cores", "tags", "lock"),
    }
)
"""Keys that a running container does not notice, or takes at once."""

LIVE_DELETES = frozenset(
    {"swap", "cpulimit", "cpuunits"} | {f"net{number}" for number in range(10)}
)
"""Keys that a running container can lose; cards from the eleventh on stay until it stops."""

LIVE_SETS = frozenset({"cpulimit", "cpuunits", "memory", "swap"})
REQUIRED = frozenset({"memory", "rootfs", "ostype"})


def check_container_update(config: GuestConfig, digest: str = "") -> None:
    """What is looked at before anything is written: lock and digest."""
    lock = config.values.get("lock", "")
    if lock:
        raise die(f"CT is locked ({lock})")
    if digest and digest != container_digest(config):
        raise die("detected modified configuration - file changed by other user? Try again.")


def plan_container_update(
    config: GuestConfig, change: ConfigChange, context: GuestContext
) -> Outcome:
    """Writes a change into a configuration and applies what can be applied now.

    Either all of it is written or, with errors, nothing. Raises `ApiError`.
    """
    draft, outcome = deepcopy(config), Outcome()
    for key in change.reverts:
        draft.pending.pop(key, None)
        draft.pending_delete.pop(key, None)
    modified = {key for key in change.deletes if _queue_delete(draft, key, context, outcome)}
    for key in sorted(change.sets):
        _queue_set(draft, key, change.sets[key], context)
        modified.add(key)
    forget_unchanged(draft)
    if context.running:
        _apply_live(draft, modified, context, outcome)
    else:
        apply_container_pending(draft, context, modified, outcome)
    if outcome.errors:
        return Outcome(errors=outcome.errors, warnings=outcome.warnings)
    _forget_reused(draft)
    config.values, config.pending = draft.values, draft.pending
    config.pending_delete = draft.pending_delete
    return outcome


def _queue_delete(config: GuestConfig, key: str, context: GuestContext, outcome: Outcome) -> bool:
    if key not in config.values and key not in config.pending:
        outcome.warnings.append(f"cannot delete '{key}' - not set in current configuration!")
        return False
    if key in REQUIRED:
        raise die(f"unable to delete required option '{key}'")
    if is_indexed(key, "unused", "mp"):
        _check_protection(config, f"can't remove CT {context.vmid} drive '{key}'")
    if key == "unprivileged":
        raise die(f"unable to delete read-only option: '{key}'")
    config.pending_delete[key] = 0
    return True


def _queue_set(config: GuestConfig, key: str, value: str, context: GuestContext) -> None:
    if is_mount(key):
        _check_protection(config, f"can't update CT {context.vmid} drive '{key}'")
        parse_mount_point(key, value)
    elif key in ("nameserver", "searchdomain"):
        value = " ".join(split_list(value))
    elif key == "unprivileged":
        raise die(f"unable to modify read-only option: '{key}'")
    elif key == "tags":
        value = print_tags(value, context.tag_style)
    elif is_indexed(key, "net"):
        _check_nic(key, value)
    elif is_indexed(key, "dev"):
        parse_device(value)
    config.pending[key] = container_value(key, value)
    config.pending_delete.pop(key, None)


def _check_nic(key: str, value: str) -> None:
    options = parse_container_nic(value).options
    managed = options.get("host-managed") == "1" and options.get("link_down") != "1"
    if managed and options.get("ip6") == "auto":
        raise die(f"{key}: SLAAC is not supported for host-managed network configuration.")


def _check_protection(config: GuestConfig, what: str) -> None:
    if config.values.get("protection", "0") == "1":
        raise die(f"{what} - protection mode enabled")


def _apply_live(
    config: GuestConfig, modified: set[str], context: GuestContext, outcome: Outcome
) -> None:
    for key in sorted(modified & set(config.pending_delete)):
        live = key in ALWAYS_LIVE or key in LIVE_DELETES or is_indexed(key, "unused")
        if live and not _is_stuck(key, context, outcome):
            _drop(config, key, context, outcome)
    for key in sorted(modified & set(config.pending)):
        new_device = is_indexed(key, "mp", "dev") and key not in config.values
        live = key in ALWAYS_LIVE or key in LIVE_SETS or is_indexed(key, "net") or new_device
        if live and not _is_stuck(key, context, outcome):
            _take(config, key, context, outcome)


def _is_stuck(key: str, context: GuestContext, outcome: Outcome) -> bool:
    refused = context.stuck(key)
    if refused:
        outcome.errors[key] = f"unable to hotplug {key}: {refused}\n"
    return bool(refused)


def apply_container_pending(
    config: GuestConfig,
    context: GuestContext,
    modified: Iterable[str] | None = None,
    outcome: Outcome | None = None,
) -> Outcome:
    """Applies to a stopped container what was just asked for; at its start, all that waits."""
    outcome = outcome or Outcome()
    chosen = {*config.pending, *config.pending_delete} if modified is None else set(modified)
    for key in sorted(chosen & set(config.pending_delete)):
        _try(config, key, context, outcome, _drop)
    forget_unchanged(config)
    for key in sorted(chosen & set(config.pending)):
        _try(config, key, context, outcome, _take)
    _forget_reused(config)
    return outcome


def _try(
    config: GuestConfig, key: str, context: GuestContext, outcome: Outcome, step: _Step
) -> None:
    try:
        step(config, key, context, outcome)
    except ApiError as error:
        outcome.errors[key] = f"unable to apply pending change {key} : {error.message}\n"


def _drop(config: GuestConfig, key: str, context: GuestContext, outcome: Outcome) -> None:
    value = config.values.pop(key, "")
    if is_indexed(key, "mp") and value:
        _keep_volume(config, key, value, outcome)
    elif is_indexed(key, "unused") and value and context.owns(value):
        outcome.freed.append(value)
    elif is_indexed(key, "net"):
        outcome.unplugged.append(key)
    config.pending_delete.pop(key, None)
    outcome.applied.append(key)


def _take(config: GuestConfig, key: str, context: GuestContext, outcome: Outcome) -> None:
    value = config.pending[key]
    if is_indexed(key, "mp"):
        value = str(context.mounted(parse_mount_point(key, value)))
        old = config.values.get(key, "")
        if old:
            _keep_volume(config, key, old, outcome)
    if is_indexed(key, "mp", "dev", "net") and key not in config.values:
        outcome.plugged.append(key)
    config.values[key] = value
    if key == "description" and not value:
        del config.values[key]
    del config.pending[key]
    outcome.applied.append(key)


def _keep_volume(config: GuestConfig, key: str, value: str, outcome: Outcome) -> None:
    mount = parse_mount_point(key, value)
    if mount.kind == "volume":
        unused = add_unused(config, mount.volume)
        if unused:
            outcome.unused[unused] = mount.volume


def _forget_reused(config: GuestConfig) -> None:
    used = {
        parse_mount_point(key, value).volume
        for section in (config.values, config.pending)
        for key, value in section.items()
        if is_mount(key)
    }
    for key in [key for key in config.values if is_indexed(key, "unused")]:
        if config.values[key] in used:
            del config.values[key]
