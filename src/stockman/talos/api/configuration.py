"""Calls on machine configurations."""

from __future__ import annotations

import re

from stockman.model.names import MachineAddress
from stockman.model.pattern import pattern
from stockman.model.secret import Secret
from stockman.talos.api.calls import (
    MACHINE,
    AnyMachine,
    InvalidAnswer,
    Row,
    build_request,
    decode_message,
    get_optional_text,
    get_texts,
)
from stockman.talos.api.errors import invalid_answer_error, sanitize_text
from stockman.talos.api.resources import ResourceCalls, ResourceKind
from stockman.talos.records.operations import (
    ApplyConfigurationRequest,
    ApplyConfigurationResult,
    ApplyMode,
    MaintenanceMachine,
)

_CONFIGS = ResourceKind(namespace="config", type="MachineConfigs.config.talos.dev")
_ACTIVE = "v1alpha1"
_CONFIG = "resource.config.MachineConfigSpec"
_APPLY = f"{MACHINE}/ApplyConfiguration"
_MODES = {mode: mode.name for mode in ApplyMode}
_SECONDS = 120.0
_SECRET_LINE = pattern(
    r"""^[\s-]*["']?[A-Za-z]*(?:key|token|secret|password|auth|id)["']?:[ ]*["']?"""
    r"""(?P<value>[^\s"'|>]{8,})["']?\s*$""",
    re.MULTILINE | re.IGNORECASE,
)


class ConfigurationCalls(ResourceCalls):
    """Machine configurations."""

    async def machine_configuration(self, node: MachineAddress) -> Secret:
        """The configuration in use, with all its documents, as it was applied."""
        found = await self._encoded_resource(node, _CONFIGS, _ACTIVE)
        try:
            return _config_text(decode_message(_CONFIG, found))
        except InvalidAnswer as error:
            raise invalid_answer_error(
                build_request("cosi.resource.State/Get", node), str(error)
            ) from None

    async def apply_configuration(
        self, at: AnyMachine, application: ApplyConfigurationRequest
    ) -> ApplyConfigurationResult:
        """Apply a configuration. `Rejected` with Talos' own words where it does not take it.

        In maintenance it is the first one. It holds all secrets of the cluster: without a
        fingerprint any machine at that address receives them.
        """
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
            return _apply_result(row, application, is_stranger=isinstance(at, MaintenanceMachine))
        except InvalidAnswer as error:
            raise invalid_answer_error(build_request(_APPLY, at), str(error)) from None


def secret_values(config: str) -> tuple[str, ...]:
    """What stands in a configuration, however broken it is, and must not be shown."""
    found = {one["value"] for one in _SECRET_LINE.finditer(config)}
    return tuple(sorted(found, key=len, reverse=True))


def _apply_result(
    row: Row, application: ApplyConfigurationRequest, *, is_stranger: bool
) -> ApplyConfigurationResult:
    secrets = secret_values(application.text.reveal())
    return ApplyConfigurationResult(
        mode=_applied_mode(row, application.mode, is_stranger=is_stranger),
        details=Secret(get_optional_text(row, "mode_details"), resolved=True),
        warnings=tuple(sanitize_text(one, secrets) for one in get_texts(row, "warnings")),
    )


def _applied_mode(row: Row, asked: ApplyMode, *, is_stranger: bool) -> ApplyMode | None:
    """What was done; `REBOOT` is what an answer says too that tells nothing."""
    told = str(row.get("mode", ApplyMode.REBOOT.name))
    if told not in ApplyMode.__members__:
        raise InvalidAnswer(f"mode is {told}")
    found = ApplyMode[told]
    if found is not ApplyMode.REBOOT:
        return found
    if is_stranger:
        return None
    if asked not in (ApplyMode.REBOOT, ApplyMode.AUTO):
        raise InvalidAnswer(f"it answers with a reboot where {asked.value} was asked for")
    return found


def _config_text(row: Row) -> Secret:
    found = row.get("yaml_marshalled")
    if not isinstance(found, bytes) or not found:
        raise InvalidAnswer("the configuration is not told")
    try:
        return Secret(found.decode(), resolved=True)
    except UnicodeDecodeError:
        raise InvalidAnswer("the configuration is not a text") from None
