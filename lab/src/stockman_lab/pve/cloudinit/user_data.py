"""`user-data`: names, the user, keys."""

from __future__ import annotations

from stockman_lab.pve.cloudinit.settings import Settings

_MASK = "**********"


def user_data(settings: Settings, *, mask_password: bool = False) -> str:
    """The text of the file."""
    short, full = settings.names
    lines = ["#cloud-config", f"hostname: {short}", "manage_etc_hosts: true", f"fqdn: {full}"]
    user, password = settings.get("ciuser"), settings.get("cipassword")
    if user is not None:
        lines.append(f"user: {user}")
    if user == "root":
        lines.append("disable_root: False")
    if password is not None:
        lines.append(f"password: {_MASK if mask_password else password}")
    keys = settings.ssh_keys
    if keys is not None:
        lines += ["ssh_authorized_keys:", *(f"  - {key}" for key in keys)]
    lines += ["chpasswd:", "  expire: False"]
    if user != "root":
        lines += ["users:", "  - default"]
    if settings.get("ciupgrade") not in ("0", ""):
        lines.append("package_upgrade: true")
    return "\n".join(lines) + "\n"
