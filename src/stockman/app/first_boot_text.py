"""The machine configuration that a node reads at its first boot."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from stockman.model.secret import Secret


def machine_text(directory: Path, environment: Mapping[str, str], name: str) -> Secret:
    """The configuration of one node with all patches and secrets in it."""
    from stockman.app.machine_configuration import machines
    from stockman.talos.machine.assembly import configuration_text

    found = machines(directory, environment)
    documents = found.documents(found.named(name), show_secrets=True)
    return Secret(configuration_text(documents))
