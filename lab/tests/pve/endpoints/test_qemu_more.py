"""Smaller calls about one virtual machine."""

from __future__ import annotations

import pytest
from stockman_lab.doors.memory import MemoryDoor
from stockman_lab.pve.schema.schema import Schema

from lab.tests.machines import QEMU, create_linux, ended, put_file, replied, start
from lab.tests.returns import misfits
from lab.tests.worlds import door, small_world

VM = f"{QEMU}/100"
_OWN_PARAMETERS: dict[str, dict[str, object]] = {
    "feature": {"feature": "snapshot"},
    "cloudinit/dump": {"type": "user"},
    "rrddata": {"timeframe": "hour"},
}

_LOOSE = ("firewall", "pending")
"""What is looked at elsewhere, or is not as promised in the real one: numbers are no texts."""


def _running_machine(profile: str) -> MemoryDoor:
    api = door(small_world(profile))
    create_linux(
        api,
        ide2="local-zfs:cloudinit",
        ipconfig0="ip=dhcp",
        efidisk0="local-zfs:1,efitype=4m",
        vga="virtio",
        balloon=512,
    )
    start(api)
    ended(api, "POST", f"{VM}/snapshot", snapname="one")
    return api


@pytest.mark.parametrize("profile", ["8.4", "9.1"])
def test_every_answer_about_a_machine_is_what_the_schema_promises(profile: str) -> None:
    api = _running_machine(profile)
    prefix = "/nodes/{node}/qemu"
    operations = Schema.of(profile).operations
    paths = [
        path
        for method, path in api.api.endpoints
        if method == "GET" and path.startswith(prefix) and (method, path) in operations
    ]

    for path in sorted(paths):
        filled = path.format(node="pve1", vmid=100, snapname="one", name="x", cidr="x", pos=0)
        rest = path.removeprefix(f"{prefix}/{{vmid}}/")
        if rest.startswith(_LOOSE):
            continue
        data = api.get(filled, **_OWN_PARAMETERS.get(rest, {}))
        assert misfits(operations["GET", path].returns, data) == [], path

    assert len(paths) > 25


def test_a_changed_value_waits_until_the_drive_is_made_anew() -> None:
    api = door()
    create_linux(api, ide2="local-zfs:cloudinit", ciuser="ann")
    start(api)
    api.put(f"{VM}/config", ciuser="bob")

    before = replied(api, "GET", f"{VM}/cloudinit")
    assert api.put(f"{VM}/cloudinit") is None
    after = api.get(f"{VM}/cloudinit")

    assert {"key": "ciuser", "value": "ann", "pending": "bob"} in before  # type: ignore[operator]
    assert {"key": "ciuser", "value": "bob"} in after  # type: ignore[operator]


def test_snippets_are_read_when_the_drive_is_made() -> None:
    api = door()
    put_file(api, "snippets/user.yaml", b"#cloud-config\nhostname: snippet\n")
    create_linux(api, 100, ide2="local-zfs:cloudinit", cicustom="user=local:snippets/user.yaml")
    create_linux(api, 101, ide2="local-zfs:cloudinit", cicustom="user=local:snippets/gone.yaml")
    start(api)

    assert api.get(f"{VM}/agent/get-host-name") == {"result": {"host-name": "snippet"}}
    assert ended(api, "POST", f"{QEMU}/101/status/start") == (
        "can't open '/var/lib/vz/snippets/gone.yaml' - No such file or directory"
    )
