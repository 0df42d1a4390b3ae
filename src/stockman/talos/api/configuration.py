"""Calls on machine configurations."""

from __future__ import annotations

import re

from stockman.model.names import MachineAddress
from stockman.model.secret import Secret
from stockman.ports.talos.configuration import Application, Applied, ApplyMode
from stockman.ports.talos.maintenance import Stranger
from stockman.talos.api.calls import MACHINE, request_for
from stockman.talos.api.messages import decoded_as
from stockman.talos.api.refusals import clean, odd_answer
from stockman.talos.api.resources import Kind, ResourceCalls
from stockman.talos.api.rows import OddAnswer, Row, text_or_none, texts

_CONFIGS = Kind(namespace="config", type="MachineConfigs.config.talos.dev")
_ACTIVE = "v1alpha1"
_CONFIG = "resource.config.MachineConfigSpec"
_APPLY = f"{MACHINE}/ApplyConfiguration"
_MODES = {mode: mode.name for mode in ApplyMode}
_SECONDS = 120.0
_SECRET = re.compile(
    r"""^[\s-]*["']?[A-Za-z]*(?:key|token|secret|password|auth|id)["']?:[ ]*["']?"""
    r"""(?P<value>[^\s"'|>]{8,})["']?\s*$""",
    re.MULTILINE | re.IGNORECASE,
)


class ConfigurationCalls(ResourceCalls):
    """`ports.talos.configuration.Configurations` over a wire."""

    async def machine_configuration(self, node: MachineAddress) -> Secret:
        found = await self._encoded_resource(node, _CONFIGS, _ACTIVE)
        try:
            return _text(decoded_as(_CONFIG, found))
        except OddAnswer as error:
            raise odd_answer(request_for("cosi.resource.State/Get", node), str(error)) from None

    async def apply_configuration(self, node: MachineAddress, application: Application) -> Applied:
        return await self._applied(node, application)

    async def _applied(self, at: MachineAddress | Stranger, application: Application) -> Applied:
        content = application.text.reveal()
        fields: dict[str, object] = {
            "data": content.encode(),
            "mode": _MODES[application.mode],
            "dry_run": application.dry_run,
            "try_mode_timeout": application.try_seconds,
        }
        secrets = secret_values(content)
        row = await self._change(_APPLY, at, fields, seconds=_SECONDS, secrets=secrets)
        try:
            return _applied(row, application, is_stranger=isinstance(at, Stranger))
        except OddAnswer as error:
            raise odd_answer(request_for(_APPLY, _node(at)), str(error)) from None


def secret_values(config: str) -> tuple[str, ...]:
    """What stands in a configuration, however broken it is, and must not be shown."""
    found = {one["value"] for one in _SECRET.finditer(config)}
    return tuple(sorted(found, key=len, reverse=True))


def _applied(row: Row, application: Application, *, is_stranger: bool) -> Applied:
    secrets = secret_values(application.text.reveal())
    return Applied(
        mode=_mode(row, application.mode, is_stranger=is_stranger),
        details=Secret(text_or_none(row, "mode_details"), resolved=True),
        warnings=tuple(clean(one, secrets) for one in texts(row, "warnings")),
    )


def _mode(row: Row, asked: ApplyMode, *, is_stranger: bool) -> ApplyMode | None:
    """What was done; `REBOOT` is what an answer says too that tells nothing."""
    told = str(row.get("mode", ApplyMode.REBOOT.name))
    if told not in ApplyMode.__members__:
        raise OddAnswer(f"mode is {told}")
    found = ApplyMode[told]
    if found is not ApplyMode.REBOOT:
        return found
    if is_stranger:
        return None
    if asked not in (ApplyMode.REBOOT, ApplyMode.AUTO):
        raise OddAnswer(f"it answers with a reboot where {asked.value} was asked for")
    return found


def _text(row: Row) -> Secret:
    found = row.get("yaml_marshalled")
    if not isinstance(found, bytes) or not found:
        raise OddAnswer("the configuration is not told")
    try:
        return Secret(found.decode(), resolved=True)
    except UnicodeDecodeError:
        raise OddAnswer("the configuration is not a text") from None


def _node(at: MachineAddress | Stranger) -> MachineAddress:
    return at.address if isinstance(at, Stranger) else at
