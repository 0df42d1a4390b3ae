"""Configurations that are brought to a machine."""

from __future__ import annotations

from stockman.talos.api.transport import GrpcCode
from stockman_lab.talos import acting
from stockman_lab.talos.api.call import Call, Refusal, seconds_in
from stockman_lab.talos.api.registry import Fields, method
from stockman_lab.talos.config import changes
from stockman_lab.talos.config.reading import effective
from stockman_lab.talos.config.verdict import (
    MachineFacts,
    Verdict,
    machine_verdict,
    static_verdict,
)
from stockman_lab.talos.disks import disk_fields
from stockman_lab.talos.state import Stage

_SERVICE = "machine.MachineService"
_REBOOT, _AUTO, _NO_REBOOT, _STAGED, _TRY = range(5)
_TRY_SECONDS = 60.0


@method(_SERVICE, "ApplyConfiguration")
def apply(call: Call) -> Fields:
    """Take a configuration over, in one of five ways, or say what would happen."""
    new, mode = bytes(call.request.data), int(call.request.mode)
    machine = call.machine
    _check_mode(call, mode)
    if call.in_maintenance:
        return _in_maintenance(call, new, mode)
    _check_free(call)
    if mode != _TRY:
        acting.cancel_trial(machine)  # even by what is refused, or only looked at
    warnings = _check(call, new)
    if effective(new, call.minor).is_partial:
        raise Refusal(GrpcCode.INVALID_ARGUMENT, changes.NO_OLDEST)
    mode, why = _chosen_mode(call, new, mode)
    if call.request.dry_run:
        details = changes.LIVE if mode == _TRY else _details(call, mode)
        details = changes.dry_run(details, machine.state.config, new, call.minor)
        return {"mode": mode, "mode_details": details}
    details = _details(call, mode) + (f": {why}" if why else "")
    _carry_out(call, new, mode)
    return {"warnings": warnings, "mode": mode, "mode_details": details}


def _check_free(call: Call) -> None:
    """Refuse while something else changes the machine; the older minors do not look."""
    machine = call.machine
    if not machine.at_least("1.13"):
        return
    if call.minor == "1.13" and machine.state.applies_after_reboot:
        raise Refusal(
            GrpcCode.FAILED_PRECONDITION,
            "configuration was already applied and node is rebooting, cannot apply more"
            " configuration changes until next reboot",
        )
    if machine.state.stage in (Stage.RESETTING, Stage.SHUTTING_DOWN, Stage.INSTALLING):
        raise Refusal(
            GrpcCode.FAILED_PRECONDITION, "another apply configuration is already in progress"
        )


def _check_mode(call: Call, mode: int) -> None:
    if mode not in range(5):
        raise Refusal(
            GrpcCode.INVALID_ARGUMENT,
            f"incorrect mode '{mode}' specified for the apply config call",
        )


def _verdict(call: Call, new: bytes) -> tuple[Verdict, Verdict]:
    """What is said of a configuration by who reads it, and by the machine that has to use it."""
    machine = call.machine
    mode = "cloud" if machine.disk is not None and machine.state.slot else machine.mode
    verdict = static_verdict(new, call.minor, mode)
    if not verdict.accepted:
        return verdict, Verdict()
    view = machine.view
    facts = MachineFacts(
        version=machine.version.removeprefix("v"),
        needs_install=mode == "metal",
        disks=tuple(disk_fields(view, disk) for disk in view.disks if not disk.is_cdrom),
    )
    return verdict, machine_verdict(effective(new, call.minor), facts)


def _check(call: Call, new: bytes) -> list[str]:
    """Refuse what Talos would not take; returns what it warns of."""
    for verdict in (found := _verdict(call, new)):
        if not verdict.accepted:
            raise Refusal(GrpcCode.INVALID_ARGUMENT, verdict.message)
    return [text for one in found for text in one.warnings]


def _in_maintenance(call: Call, new: bytes, mode: int) -> Fields:
    if call.machine.at_least("1.13"):
        return _in_new_maintenance(call, new, mode)
    if mode not in (_TRY, _REBOOT, _AUTO):
        name = {_NO_REBOOT: "no-reboot", _STAGED: "staged"}[mode]
        raise Refusal(
            GrpcCode.UNIMPLEMENTED,
            f"apply configuration --mode='{name}' is not supported in maintenance mode",
        )
    verdict, own = _verdict(call, new)
    if verdict.unreadable:
        raise Refusal(GrpcCode.UNKNOWN, f"failed to parse config: {verdict.unreadable}")
    if verdict.invalid:
        raise Refusal(
            GrpcCode.INVALID_ARGUMENT, f"configuration validation failed: {verdict.invalid}"
        )
    if own.invalid:
        raise Refusal(
            GrpcCode.INVALID_ARGUMENT, f"runtime configuration validation failed: {own.invalid}"
        )
    if call.request.dry_run:
        return {"mode_details": changes.MAINTENANCE_DRY_RUN}
    acting.change_config(call.machine, new)
    return {"warnings": [*verdict.warnings, *own.warnings]}


def _in_new_maintenance(call: Call, new: bytes, mode: int) -> Fields:
    machine = call.machine
    warnings = _check(call, new)
    mode = mode if mode in (_STAGED, _TRY) else _NO_REBOOT
    if call.request.dry_run:
        details = changes.LIVE if mode == _TRY else _details(call, mode)
        details = changes.dry_run(details, machine.state.config, new, call.minor)
        return {"mode": mode, "mode_details": details}
    details = _details(call, mode)
    if mode == _STAGED:
        acting.stage_config(machine, new)
    elif effective(new, call.minor).is_partial:
        machine.take_config(new)
        machine.land.settle(machine)
    else:
        acting.change_config(machine, new)
    return {"warnings": warnings, "mode": mode, "mode_details": details}


def _chosen_mode(call: Call, new: bytes, mode: int) -> tuple[int, str]:
    """The mode that is taken, and why where the caller left it open."""
    if call.machine.at_least("1.14"):
        if mode == _REBOOT:
            raise Refusal(
                GrpcCode.UNIMPLEMENTED,
                "the REBOOT mode is not supported, please use AUTO or NO_REBOOT modes instead",
            )
        return (_NO_REBOOT if mode == _AUTO else mode), ""
    refusal = changes.live_refusal(call.machine.state.config, new, call.minor)
    if mode == _AUTO:
        return (_REBOOT, refusal) if refusal else (_NO_REBOOT, "")
    if mode in (_NO_REBOOT, _TRY) and refusal:
        raise Refusal(GrpcCode.INVALID_ARGUMENT, refusal)
    return mode, ""


def _details(call: Call, mode: int) -> str:
    return {
        _REBOOT: changes.REBOOTED,
        _NO_REBOOT: changes.LIVE,
        _STAGED: changes.STAGED,
        _TRY: changes.tried(_seconds(call)),
    }[mode]


def _seconds(call: Call) -> float:
    return seconds_in(call.request.try_mode_timeout) or _TRY_SECONDS


def _carry_out(call: Call, new: bytes, mode: int) -> None:
    machine = call.machine
    if mode == _TRY:
        acting.try_config(machine, new, _seconds(call))
    elif mode == _STAGED:
        acting.stage_config(machine, new)
    elif mode == _REBOOT:
        acting.apply_and_reboot(machine, new)
    else:
        acting.change_config(machine, new)
