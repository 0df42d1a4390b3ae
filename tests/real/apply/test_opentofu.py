"""OpenTofu takes over the machines that a run made, and finds them as it would have made them."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.real.apply.herd import Made
from tests.real.apply.proxmox import asked
from tests.real.tofu import Tofu
from tools.pytest_plugin import RealTool

_OWN = Path(__file__).parent / "opentofu"
ALLOWED: dict[str, str] = json.loads((_OWN / "allowed.json").read_text())
"""Attributes that may differ, and why."""
_DEFAULTS: dict[str, tuple[str, object]] = {"agent": ("enabled", False), "vga": ("type", "std")}
"""What a block that appears has to say."""


@dataclass(frozen=True)
class Door:
    """The lab, as the harness of OpenTofu wants to know it."""

    endpoint: str
    token_id: str
    token_secret: str
    ca: Path


@pytest.mark.parametrize("cluster", ["1.13", "8.4"])
def test_a_plan_after_the_import_has_only_what_is_allowed(
    cluster: str, made: Made, real_tool: RealTool, tmp_path: Path
) -> None:
    tofu = _prepared(made, real_tool, tmp_path)
    for name, machine in _machines(made).items():
        identity = f"{machine['host']}/{machine['vmid']}"
        tofu.take_over(f'proxmox_virtual_environment_vm.machine["{name}"]', identity)
        tofu.take_over(f'proxmox_haresource.machine["{name}"]', f"vm:{machine['vmid']}")

    attributes = tofu.attributes()
    other = tofu.attributes(memory="8192")

    assert _not_allowed(attributes) == []
    assert {name for attribute in attributes.values() for name in attribute} == set(ALLOWED)
    assert len(attributes) == len(_machines(made))
    assert _not_allowed(other) == ["memory"] * len(_machines(made))


def _not_allowed(found: dict[str, dict[str, tuple[Any, Any]]]) -> list[str]:
    return [
        name
        for attributes in found.values()
        for name, (before, after) in attributes.items()
        if name not in ALLOWED or before != [] or not _is_default(name, after)
    ]


def _is_default(name: str, after: Any) -> bool:
    key, value = _DEFAULTS[name]
    return bool(after[0][key] == value)


def _prepared(made: Made, real_tool: RealTool, folder: Path) -> Tofu:
    environment, kind = made.scene.environment, made.scene.kind
    who, _, secret = made.scene.administrator.partition("=")
    tofu = Tofu(
        program=real_tool("tofu"),
        provider=real_tool("terraform-provider-proxmox"),
        folder=folder / "configuration",
        lab=Door(
            environment["PROXMOX_VE_ENDPOINT"], who, secret, Path(environment["STOCKMAN_LAB_CA"])
        ),
        variables={
            "machines": json.dumps(_machines(made)),
            "gateway": kind.network.replace(".0/24", ".1"),
            "rules": "true" if kind.pve.startswith("9") else "false",
        },
        source=_OWN,
    )
    tofu.prepare()
    return tofu


def _machines(made: Made) -> dict[str, dict[str, Any]]:
    """What the files say of every machine, and the UUID that it has."""
    text = (made.scene.directory / "nodes.yaml").read_text()
    found = re.findall(
        r'- name: (\S+)\n    address: (\S+)\n.*\n    mac_addr: "(\S+)"\n'
        r"    vm: \{vmid: (\d+), host: (\w+)\}",
        text,
    )
    return {
        name: {
            "host": host,
            "vmid": int(vmid),
            "address": f"{address}/24",
            "mac": mac.upper(),
            **_identity(made, name, f"/nodes/{host}/qemu/{vmid}/config"),
        }
        for name, address, mac, vmid, host in found
    }


def _identity(made: Made, name: str, path: str) -> dict[str, str]:
    """The UUID, and the description with the mark, which has a fingerprint of the secrets."""
    config = asked(made.scene, "GET", path)
    uuid = re.search(r"uuid=([0-9a-f-]+)", config["smbios1"])
    assert uuid is not None
    mark = rf"stockman: k8s/{name} id=[0-9a-f]+ guest=[^ /]+/[0-9]+/{uuid[1]}"
    assert re.fullmatch(mark, config["description"].strip())
    return {"uuid": uuid[1], "description": config["description"]}
