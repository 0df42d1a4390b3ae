"""Files for clients whose certificates were made long ago, and until when they hold."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import yaml

from stockman.adapters.system import SystemEntropy
from stockman.app.client_config.files import ClientFileContext, ClientFileOptions
from stockman.app.client_config.kubeconfig import write_kubeconfig
from stockman.app.client_config.talosconfig import TalosconfigOptions, write_talosconfig
from stockman.app.secrets.keyring import find_keyring
from stockman.crypto.certificates import read_certificate_facts
from tests.real.apply.herd import Made
from tests.real.apply.scene import CLOCK

LIFETIME = timedelta(days=365)


@dataclass(frozen=True)
class Earlier:
    """A clock that is behind."""

    by: timedelta

    def now(self) -> datetime:
        return CLOCK.now() - self.by


def make_old(made: Made, left: timedelta) -> None:
    """Give clients certificates that were made a year ago, but for what is left of it."""
    directory = made.scene.directory
    past = ClientFileContext(
        clock=Earlier(LIFETIME - left),
        entropy=SystemEntropy(),
        keyring=find_keyring(directory, {}),
        environment={},
    )
    write_talosconfig(TalosconfigOptions(directory=directory, renew=True), past)
    write_kubeconfig(ClientFileOptions(directory=directory, renew=True), past)


def ends(made: Made) -> tuple[datetime, datetime]:
    """When the certificates of talosconfig and kubeconfig end."""
    talos = _read(made.talosconfig)["contexts"]
    (context,) = talos.values()
    (user,) = _read(made.kubeconfig)["users"]
    return _end(context["crt"]), _end(user["user"]["client-certificate-data"])


def _end(data: str) -> datetime:
    return read_certificate_facts(base64.b64decode(data).decode()).period.end


def _read(path: Path) -> Any:
    return yaml.safe_load(path.read_text())
