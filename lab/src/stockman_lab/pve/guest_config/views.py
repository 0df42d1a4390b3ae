"""Configurations as the API shows them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from stockman_lab.pve.errors import bad_parameters, die
from stockman_lab.pve.formats.lists import split_list
from stockman_lab.pve.guest_config.keys import CLOUD_INIT, Kind, container_kind, machine_kind
from stockman_lab.pve.guest_config.state import GuestConfig, container_digest, machine_digest

Shown = dict[str, str | int]

HIDDEN = "**********"


def shown_machine(config: GuestConfig, *, current: bool = False, snapshot: str = "") -> Shown:
    """The configuration of a virtual machine: with what waits, as it runs, or of a snapshot."""
    values = _chosen(config, current=current, snapshot=snapshot)
    if values.get("cipassword"):
        values["cipassword"] = HIDDEN
    return {**_encode_values(values, machine_kind), "digest": machine_digest(config)}


def shown_container(
    config: GuestConfig, *, current: bool = False, snapshot: str = ""
) -> dict[str, object]:
    """The configuration of a container."""
    values = _chosen(config, current=current, snapshot=snapshot)
    shown: dict[str, object] = {
        **_encode_values(values, container_kind),
        "digest": container_digest(config),
    }
    if config.raw and not snapshot:
        shown["lxc"] = [list(pair) for pair in config.raw]
    return shown


def pending_machine_rows(config: GuestConfig) -> list[Shown]:
    """Every key of a virtual machine with its current and its waiting value."""
    values, pending = dict(config.values), dict(config.pending)
    if "cipassword" in values:
        values["cipassword"] = HIDDEN
    if "cipassword" in pending:
        pending["cipassword"] = f"{HIDDEN} "
    values["digest"] = machine_digest(config)
    return _rows(values, pending, config.pending_delete, machine_kind)


def pending_container_rows(config: GuestConfig) -> list[Shown]:
    """Every key of a container with its current and its waiting value."""
    values = {**config.values, "digest": container_digest(config)}
    return _rows(values, config.pending, config.pending_delete, container_kind)


def cloud_init_rows(config: GuestConfig) -> list[Shown]:
    """What the cloud-init drive was made of, and what it does not know yet."""
    record = dict(config.cloud_init)
    values = dict(config.values)
    for section in (record, values):
        if "cipassword" in section:
            section["cipassword"] = HIDDEN
    added = split_list(record.pop("added", ""))
    rows: list[Shown] = [{"key": key, "pending": values.get(key, "")} for key in added]
    for key in sorted(CLOUD_INIT & set(values) - set(added)):
        if key.startswith("ipconfig"):
            continue
        if key in record:
            rows.append({"key": key, "value": record[key], "pending": values[key]})
        else:
            rows.append({"key": key, "value": values[key]})
    rows.extend({"key": key, "delete": 1} for key in sorted(record) if key not in values)
    return rows


def _chosen(config: GuestConfig, *, current: bool, snapshot: str) -> dict[str, str]:
    if snapshot and current:
        refused = "cannot use 'snapshot' parameter with 'current'"
        raise bad_parameters({"snapshot": refused, "current": refused})
    if snapshot:
        if snapshot not in config.snapshots:
            raise die(f"snapshot '{snapshot}' does not exist")
        return dict(config.snapshots[snapshot])
    if current:
        return dict(config.values)
    merged = {**config.values, **config.pending}
    # The real one asks whether a value is true before it leaves it out: a 0 stays to be seen.
    gone = {key for key in config.pending_delete if merged.get(key, "") != "0"}
    return {
        key: value
        for key, value in merged.items()
        if key not in gone and (key != "description" or value)
    }


def _encode_values(values: Mapping[str, str], kind_of: Callable[[str], Kind]) -> Shown:
    return {key: encode(kind_of(key), values[key]) for key in sorted(values)}


def encode(kind: Kind, value: str) -> str | int:
    """A value in JSON: flags and whole numbers are numbers, fractions are text."""
    return int(value) if kind in ("boolean", "integer") else value


def _rows(
    values: Mapping[str, str],
    pending: Mapping[str, str],
    deletes: Mapping[str, int],
    kind_of: Callable[[str], Kind],
) -> list[Shown]:
    rows: list[Shown] = []
    for key in sorted({*values, *pending, *deletes}):
        row: Shown = {"key": key}
        if key in values:
            row["value"] = encode(kind_of(key), values[key])
        if key in pending:
            row["pending"] = encode(kind_of(key), pending[key])
        if key in deletes:
            row["delete"] = 2 if deletes[key] or key not in values else 1
        rows.append(row)
    return rows
