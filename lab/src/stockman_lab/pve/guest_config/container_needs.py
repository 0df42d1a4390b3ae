"""What a user has to be allowed to change each key of a container."""

from __future__ import annotations

from collections.abc import Mapping

from stockman_lab.pve.formats.mount_point import is_mount, parse_features, parse_mount_point
from stockman_lab.pve.formats.nic import parse_container_nic
from stockman_lab.pve.guest_config.change import ConfigChange
from stockman_lab.pve.guest_config.keys import is_indexed
from stockman_lab.pve.guest_config.needs import (
    ALLOCATE_SPACE,
    Asked,
    Guest,
    Need,
    bridge_needs,
    forbidden,
    on_guest,
    tag_needs,
    volume_needs,
)

_PRIVILEGES = {
    **dict.fromkeys(("cores", "cpuunits", "cpulimit"), "VM.Config.CPU"),
    **dict.fromkeys(("memory", "swap"), "VM.Config.Memory"),
    **dict.fromkeys(("nameserver", "searchdomain", "hostname"), "VM.Config.Network"),
}


def container_update_needs(
    values: Mapping[str, str], change: ConfigChange, guest: Guest
) -> list[Asked]:
    """Everything that a change takes, in the order in which the real one asks."""
    return [
        need
        for key, new in (
            *((key, None) for key in (*change.deletes, *change.reverts)),
            *((key, change.sets[key]) for key in sorted(change.sets)),
        )
        for need in container_key_needs(guest, key, values, new)
    ]


def container_key_needs(
    guest: Guest, key: str, values: Mapping[str, str], new: str | None
) -> list[Asked]:
    """What a new value of a key takes; None: its deletion."""
    old = values.get(key, "")
    if is_mount(key):
        return [on_guest(guest.vmid, "VM.Config.Disk"), *_mount_needs(guest, key, new)]
    if is_indexed(key, "net"):
        cards = [parse_container_nic(text).options for text in (old, new) if text]
        bridges = [need for options in cards for need in bridge_needs(guest, options)]
        return [on_guest(guest.vmid, "VM.Config.Network"), *bridges]
    if is_indexed(key, "dev"):
        return [forbidden("configuring device passthrough is only allowed for root@pam")]
    if key == "features":
        privileged = values.get("unprivileged", "0") != "1"
        return _feature_needs(guest, old, new or "", privileged=privileged)
    if key == "hookscript":
        return [forbidden("changing the hookscript is only allowed for root@pam")]
    if key == "tags":
        return tag_needs(guest, old, new or "")
    return [on_guest(guest.vmid, _PRIVILEGES.get(key, "VM.Config.Options"))]


def _mount_needs(guest: Guest, key: str, new: str | None) -> list[Asked]:
    if new is None:
        return []
    mount = parse_mount_point(key, new)
    if mount.kind != "volume":
        return [forbidden(f"mount point type {mount.kind} is only allowed for root@pam")]
    if mount.new_volume:
        return [Need(f"/storage/{mount.new_volume[0]}", (ALLOCATE_SPACE,))]
    return volume_needs(guest, mount.volume)


def _feature_needs(guest: Guest, old: str, new: str, *, privileged: bool) -> list[Asked]:
    if privileged:
        return [
            forbidden(
                "changing feature flags for privileged container is only allowed for root@pam"
            )
        ]
    before, after = parse_features(old), parse_features(new)
    if before and after:
        changed = {
            name for name in {*before, *after} if before.get(name, "") != after.get(name, "")
        }
    else:
        changed = {*before, *after}
    if changed - {"nesting"}:
        return [forbidden("changing feature flags (except nesting) is only allowed for root@pam")]
    return [on_guest(guest.vmid, "VM.Allocate")] if changed else []
