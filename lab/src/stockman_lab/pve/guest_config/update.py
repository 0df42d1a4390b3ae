"""A change of a virtual machine's configuration from beginning to end."""

from __future__ import annotations

from dataclasses import dataclass, field

from stockman_lab.pve.errors import ApiError, die
from stockman_lab.pve.formats.drive import (
    Drive,
    boot_order,
    check_order_exists,
    is_drive,
    is_unused,
    parse_drive,
    print_order,
)
from stockman_lab.pve.formats.format_error import FormatError
from stockman_lab.pve.formats.hardware import (
    canonical_machine_type,
    check_vga,
    current_memory,
)
from stockman_lab.pve.formats.lists import print_tags
from stockman_lab.pve.guest_config.change import ConfigChange
from stockman_lab.pve.guest_config.context import GuestContext, Outcome
from stockman_lab.pve.guest_config.hotplug import Hotplug
from stockman_lab.pve.guest_config.keys import machine_value
from stockman_lab.pve.guest_config.pending import destroy, detach, forget_reused, forget_unchanged
from stockman_lab.pve.guest_config.state import GuestConfig, has_cloud_init, machine_digest


@dataclass(slots=True)
class Queue:
    """Writes one change of a virtual machine into the section of waiting changes."""

    config: GuestConfig
    change: ConfigChange
    around: GuestContext
    outcome: Outcome
    modified: set[str] = field(default_factory=set)
    """Keys that may be applied now; what waited before goes on waiting."""
    order: list[str] = field(default_factory=list)
    """The boot order that holds, and grows and shrinks with the drives."""

    def fill(self) -> None:
        """Writes everything down; raises `ApiError` where the real one gives up half way."""
        self.order = _order(self.config.values.get("boot", ""))
        sets, deletes = self._with_reverts()
        for key in deletes:
            self._delete(key)
        # The order that was asked for wins over what new drives add to the old one.
        for key in sorted(sets, key=lambda one: (one == "boot", one)):
            self._set(key, sets[key])

    def _with_reverts(self) -> tuple[dict[str, str], list[str]]:
        sets, deletes = dict(self.change.sets), list(self.change.deletes)
        for key in self.change.reverts:
            if key in self.config.values:
                sets[key] = self.config.values[key]
            elif key in self.config.pending:
                deletes.append(key)
        return sets, deletes

    def _delete(self, key: str) -> None:
        config = self.config
        value = config.values.get(key, config.pending.get(key))
        if value is None:
            self.outcome.warnings.append(
                f"cannot delete '{key}' - not set in current configuration!"
            )
            return
        self.modified.add(key)
        if is_unused(key):
            self._destroy(parse_drive(key, value), f"can't remove unused disk '{value}'")
        elif key == "tags":
            config.pending.pop(key, None)
            config.values.pop(key, None)
            self.outcome.applied.append(key)
        else:
            self._queue_delete(key, value)

    def _destroy(self, drive: Drive, protected: str) -> None:
        self._check_protection(protected)
        destroy(self.config, drive, self.around, self.outcome)
        del self.config.values[drive.key]
        self.outcome.applied.append(drive.key)

    def _queue_delete(self, key: str, value: str) -> None:
        if is_drive(key):
            self._check_protection(f"can't remove drive '{key}'")
        was_pending = self.config.pending.pop(key, None) is not None
        if key in self.order:
            self.order.remove(key)
            self._keep_order()
        if is_drive(key) and was_pending:
            # Of two volumes it is the current one that is kept: the real one looks no further.
            detach(self.config, parse_drive(key, value), self.around, self.outcome)
        self.config.pending_delete[key] = int(self.change.force)

    def _check_protection(self, what: str) -> None:
        if self.config.values.get("protection", "0") == "1":
            raise die(f"{what} - protection mode enabled")

    def _keep_order(self) -> None:
        self.config.pending["boot"] = machine_value("boot", print_order(self.order))
        self.modified.add("boot")

    def _set(self, key: str, value: str) -> None:
        config = self.config
        self.modified.add(key)
        if config.pending.get(key) == value:
            return
        if key == "cipassword":
            config.values[key] = value
            self.outcome.applied.append(key)
        elif is_drive(key):
            self._set_drive(key, value)
        else:
            config.pending[key] = machine_value(key, self._value(key, value))
        config.pending_delete.pop(key, None)
        forget_reused(config)

    def _set_drive(self, key: str, value: str) -> None:
        config = self.config
        drive = parse_drive(key, value)
        if key == "tpmstate0":
            _check_tpm_version(config.values.get(key, ""), drive)
        waiting = config.pending.get(key)
        if waiting is not None:
            detach(config, parse_drive(key, waiting), self.around, self.outcome)
        if drive.is_cloud_init:
            cloud_init = has_cloud_init(config.values, key) or has_cloud_init(config.pending, key)
            if cloud_init:
                raise die(f"{key} - cloud-init drive is already attached at '{cloud_init}'")
        is_medium = drive.is_plain_cdrom
        config.pending[key] = str(self.around.made(drive))
        if self.order and is_medium and key not in self.order:
            self.order.append(key)
            self._keep_order()

    def _value(self, key: str, value: str) -> str:
        if key == "boot":
            return self._boot(value)
        if key == "tags":
            return print_tags(value, self.around.tag_style)
        if key == "vga":
            check_vga(value)
        elif key == "machine":
            canonical_machine_type(value)
        return value

    def _boot(self, value: str) -> str:
        config = self.config
        devices = boot_order(value)
        if not devices:
            return value
        known = {*config.values, *config.pending, *self.change.sets}
        check_order_exists(value, known, self.change.deletes)
        if "bootdisk" in config.values:
            config.pending_delete["bootdisk"] = 0
        return print_order(devices)


def _order(boot: str) -> list[str]:
    try:
        return boot_order(boot)
    except FormatError:
        return []


def _check_tpm_version(old: str, asked: Drive) -> None:
    if not old:
        return
    before = parse_drive("tpmstate0", old)
    versions = {drive.options.get("version", "v1.2") for drive in (before, asked)}
    if before.file == asked.file and len(versions) > 1:
        raise die("cannot change TPM state version after creation")


def check_update(config: GuestConfig, change: ConfigChange, digest: str = "") -> None:
    """What is looked at before anything is written: digest, lock, memory."""
    if digest and digest != machine_digest(config):
        raise die("checksum mismatch (file change by other user?)")
    lock = config.values.get("lock", "")
    if lock:
        raise die(f"VM is locked ({lock})")
    check_balloon(config, change)


def check_balloon(config: GuestConfig, change: ConfigChange) -> None:
    """Refuses a balloon that is larger than the memory."""
    sets, pending, values = change.sets, config.pending, config.values
    if not sets.get("memory") and "balloon" not in sets:
        return
    memory = sets.get("memory") or pending.get("memory") or values.get("memory", "")
    balloon = int(sets.get("balloon", pending.get("balloon", values.get("balloon", "0"))))
    if balloon > current_memory(memory):
        raise die("balloon value too large (must be smaller than assigned memory)")


def plan_update(config: GuestConfig, change: ConfigChange, context: GuestContext) -> Outcome:
    """Writes a change into a configuration and applies what can be applied now.

    Values have to be canonical already. Keys with errors, and what no running machine can
    take, wait. Raises `ApiError` where the real one gives up; what was written until then stays.
    """
    outcome = Outcome()
    queue = Queue(config, change, context, outcome)
    queue.fill()
    forget_unchanged(config)
    if config.has_pending:
        if context.running:
            Hotplug(config, context, outcome).apply(queue.modified)
        else:
            apply_pending(config, context, outcome)
    forget_reused(config)
    return outcome


def apply_pending(
    config: GuestConfig, context: GuestContext, outcome: Outcome | None = None
) -> Outcome:
    """Applies everything that waits to a machine that does not run: on a change, and at start."""
    outcome = outcome or Outcome()
    for key in sorted(config.pending_delete):
        _apply(key, None, config, context, outcome)
    forget_unchanged(config)
    for key in sorted(config.pending):
        _apply(key, config.pending[key], config, context, outcome)
    forget_reused(config)
    return outcome


def _apply(
    key: str, value: str | None, config: GuestConfig, context: GuestContext, outcome: Outcome
) -> None:
    try:
        _move_drive(key, value, config, context, outcome)
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
    key: str, value: str | None, config: GuestConfig, context: GuestContext, outcome: Outcome
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
        destroy(config, old, context, outcome)
    elif new is None or new.file != old.file:
        detach(config, old, context, outcome)
