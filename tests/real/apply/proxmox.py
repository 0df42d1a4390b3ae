"""Questions to the Proxmox VE of a lab, as its administrator."""

from __future__ import annotations

import json
import ssl
from typing import Any
from urllib.parse import urlencode
from urllib.request import Request, urlopen

from tests.real.apply.scene import Scene

PASSWORD = "canary-of-herder-4f1c9d"  # not-a-secret: searched for where it must not be
_PATIENCE = 30
_USER = "herder@pve"


def asked(scene: Scene, method: str, where: str, **values: str) -> Any:
    """What the API answers."""
    environment = scene.environment
    request = Request(
        f"{environment['PROXMOX_VE_ENDPOINT'].rstrip('/')}/api2/json{where}",
        data=urlencode(values).encode() if values else None,
        headers={"Authorization": f"PVEAPIToken={scene.administrator}"},
        method=method,
    )
    trusting = ssl.create_default_context(cafile=environment["STOCKMAN_LAB_CA"])
    with urlopen(request, timeout=_PATIENCE, context=trusting) as answer:
        return json.loads(answer.read())["data"]


def become_administrator(scene: Scene) -> None:
    """Let a person with a password have all rights, and nobody else be there."""
    asked(scene, "POST", "/access/users", userid=_USER, password=PASSWORD)
    asked(scene, "PUT", "/access/acl", path="/", roles="Administrator", users=_USER)
    del scene.environment["PROXMOX_VE_API_TOKEN"]
    scene.environment |= {"PROXMOX_VE_USERNAME": _USER, "PROXMOX_VE_PASSWORD": PASSWORD}
