"""The configuration itself, and the type of machine that it makes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stockman.talos.wire.schema import load_api_schema
from stockman.talos.wire.values import new_message
from stockman_lab.talos.cosi.registry import Content, Contents, kind
from stockman_lab.talos.cosi.shaping import scalar_text
from stockman_lab.talos.cosi.tables import words

if TYPE_CHECKING:
    from stockman_lab.talos.machine import Machine

_AS_STREAM = "1.11"
"""The minor whose YAML form is the documents themselves, and no text."""


def _written_config(minor: str, spec: object) -> tuple[bytes, str]:
    text = str(spec)
    message = new_message(
        load_api_schema(minor),
        "resource.config.MachineConfigSpec",
        {"yaml_marshalled": text.encode()},
    )
    written = text if minor == _AS_STREAM else scalar_text(text)
    return message.SerializeToString(deterministic=True), written


def _written_type(minor: str, spec: object) -> tuple[bytes, str]:
    number = words("MachineType")[str(spec)]
    message = new_message(
        load_api_schema(minor), "resource.config.MachineTypeSpec", {"machine_type": number}
    )
    return message.SerializeToString(deterministic=True), scalar_text(str(spec))


@kind("MachineConfigs.config.talos.dev", "config.AcquireController", written=_written_config)
def machine_configs(machine: Machine) -> Contents:
    disk = machine.disk
    texts = {"v1alpha1": machine.state.config, "persistent": disk.config if disk else b""}
    annotations = {"talos.dev/yaml-spec": "1"} if machine.minor != _AS_STREAM else {}
    return {
        name: Content(text.decode("utf-8", "replace"), annotations=annotations)
        for name, text in texts.items()
        if text
    }


@kind("MachineTypes.config.talos.dev", "config.MachineTypeController", written=_written_type)
def machine_types(machine: Machine) -> Contents:
    config = machine.config
    name = config.machine_type if config is not None and config.machine_type else "unknown"
    return {"machine-type": Content(name)}
