"""A change of a virtual machine's configuration from beginning to end."""

from __future__ import annotations

from stockman_lab.pve.errors import ApiError, die
from stockman_lab.pve.formats.drive import is_drive, parse_drive
from stockman_lab.pve.formats.hardware import current_memory
from stockman_lab.pve.guest_config.change import Change
from stockman_lab.pve.guest_config.hotplug import Hotplug
from stockman_lab.pve.guest_config.pending import destroy, detach, forget_reused, forget_unchanged
from stockman_lab.pve.guest_config.queue import Queue
from stockman_lab.pve.guest_config.state import GuestConfig, machine_digest
from stockman_lab.pve.guest_config.surroundings import Outcome, Surroundings


def check_update(config: GuestConfig, change: Change, digest: str = "") -> None:
    """What is looked at before anything is written: digest, lock, memory."""
    if digest and digest != machine_digest(config):
        raise die("checksum mismatch (file change by other user?)")
    check_unlocked(config, change)
    check_balloon(config, change)


def check_unlocked(config: GuestConfig, change: Change) -> None:
    """Refuses to touch a locked machine, except to throw its saved state away."""
    lock = config.values.get("lock", "")
    if lock and not (lock == "suspended" and "vmstate" in change.deletes):
        raise die(f"VM is locked ({lock})")


def check_balloon(config: GuestConfig, change: Change) -> None:
    """Refuses a balloon that is larger than the memory."""
    sets, pending, values = change.sets, config.pending, config.values
    if not sets.get("memory") and "balloon" not in sets:
        return
    memory = sets.get("memory") or pending.get("memory") or values.get("memory", "")
    balloon = int(sets.get("balloon", pending.get("balloon", values.get("balloon", "0"))))
    if balloon > current_memory(memory):
        raise die("balloon value too large (must be smaller than assigned memory)")


def plan_update(config: GuestConfig, change: Change, surroundings: Surroundings) -> Outcome:
    """Writes a change into a configuration and applies what can be applied now.

    Values have to be canonical already. Keys with errors, and what no running machine can
    take, wait. Raises `ApiError` where the real one gives up; what was written until then stays.
    """
    outcome = Outcome()
    _drop_saved_state(config, change)
    queue = Queue(config, change, surroundings, outcome)
    queue.fill()
    forget_unchanged(config)
    if config.has_pending:
        if surroundings.running:
            Hotplug(config, surroundings, outcome).apply(queue.modified)
        else:
            apply_pending(config, surroundings, outcome)
    forget_reused(config)
    return outcome


def _drop_saved_state(config: GuestConfig, change: Change) -> None:
    if "vmstate" not in change.deletes:
        return
    extra = ["runningmachine", "runningcpu", "running-nets-host-mtu"]
    if config.values.get("lock") == "suspended":
        extra.append("lock")
    change.deletes.extend(key for key in extra if key in config.values)


def apply_pending(
    config: GuestConfig, surroundings: Surroundings, outcome: Outcome | None = None
) -> Outcome:
    """Applies everything that waits to a machine that does not run: on a change, and at start."""
    outcome = outcome or Outcome()
    for key in sorted(config.pending_delete):
        _apply(key, None, config, surroundings, outcome)
    forget_unchanged(config)
    for key in sorted(config.pending):
        _apply(key, config.pending[key], config, surroundings, outcome)
    forget_reused(config)
    return outcome


def _apply(
    key: str, value: str | None, config: GuestConfig, surroundings: Surroundings, outcome: Outcome
) -> None:
    try:
        _move_drive(key, value, config, surroundings, outcome)
    except ApiError as error:
        outcome.errors[key] = f"unable to apply pending change {key} : {error.message}\n"
        return
    if value is None:
        config.pending_delete.pop(key)
        config.values.pop(key, None)
    else:
        config.values[key] = config.pending.pop(key)
        if key == "description" and not value:
            del config.values[key]
    outcome.applied.append(key)


def _move_drive(
    key: str, value: str | None, config: GuestConfig, surroundings: Surroundings, outcome: Outcome
) -> None:
    if not is_drive(key):
        return
    new = parse_drive(key, value) if value is not None else None
    if new and new.is_cloud_init:
        outcome.regenerate_cloud_init = True
    if key not in config.values:
        return
    old = parse_drive(key, config.values[key])
    if new is None and config.pending_delete.get(key):
        destroy(config, old, surroundings, outcome)
    elif new is None or new.file != old.file:
        detach(config, old, surroundings, outcome)
