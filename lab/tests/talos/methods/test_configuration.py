"""Configurations applied in every mode."""

from __future__ import annotations

import pytest
from stockman_lab.talos.api.call import Refusal
from stockman_lab.talos.state import Stage

from lab.tests.talos.asking import Asking
from lab.tests.talos.staged import machine, staged
from stockman.talos.api.transport import GrpcCode

MODES = {"REBOOT": 0, "AUTO": 1, "NO_REBOOT": 2, "STAGED": 3, "TRY": 4}


def debugged(text: bytes) -> bytes:
    """The configuration with something that every machine takes on while it runs."""
    quiet = text.replace(b"debug: false\n", b"", 1)
    return quiet.replace(b"version: v1alpha1\n", b"version: v1alpha1\ndebug: true\n", 1)


def with_file(text: bytes) -> bytes:
    """The configuration with something that older ones have to reboot for."""
    written = b'    sysfs: {}\n    udev:\n        rules:\n            - ACTION=="add"\n'
    return text.replace(b"machine:\n", b"machine:\n" + written, 1)


@pytest.mark.parametrize("version", ["1.11.5", "1.12.1", "1.13.9", "1.14.1"])
def test_a_small_change_is_applied_while_the_machine_runs(version: str) -> None:
    world = staged("single", version)
    result = machine(world)
    before = result.state.boot_id
    reply = Asking(world, result).call(
        "ApplyConfiguration", data=debugged(result.state.config), mode="AUTO"
    )
    world.settle()
    assert reply.mode == MODES["NO_REBOOT"]
    assert reply.mode_details == "Applied configuration without a reboot"
    assert result.state.boot_id == before
    assert b"debug: true" in result.state.config


@pytest.mark.parametrize("version", ["1.11.5", "1.12.1", "1.13.9"])
def test_some_changes_reboot_up_to_the_thirteenth_minor(version: str) -> None:
    world = staged("single", version)
    result = machine(world)
    before, new = result.state.boot_id, with_file(result.state.config)
    with pytest.raises(Refusal) as caught:
        Asking(world, result).call("ApplyConfiguration", data=new, mode="NO_REBOOT")
    assert caught.value.code is GrpcCode.INVALID_ARGUMENT
    reply = Asking(world, result).call("ApplyConfiguration", data=new, mode="AUTO")
    assert reply.mode == MODES["REBOOT"]
    assert reply.mode_details.startswith("Applied configuration with a reboot: this config change")
    if version == "1.13.9":
        with pytest.raises(Refusal) as caught:
            Asking(world, result).call("ApplyConfiguration", data=new, mode="AUTO")
        assert caught.value.code is GrpcCode.FAILED_PRECONDITION
    world.settle()
    assert result.state.boot_id != before
    assert result.state.config == new


def test_the_fourteenth_minor_never_reboots_for_it() -> None:
    world = staged("single", "1.14.1")
    result = machine(world)
    with pytest.raises(Refusal) as caught:
        Asking(world, result).call("ApplyConfiguration", data=result.state.config, mode="REBOOT")
    assert caught.value.code is GrpcCode.UNIMPLEMENTED
    reply = Asking(world, result).call("ApplyConfiguration", data=result.state.config, mode="AUTO")
    assert reply.mode == MODES["NO_REBOOT"]


def test_a_staged_configuration_waits_for_the_next_boot() -> None:
    world = staged("single", "1.12.1")
    result = machine(world)
    new = debugged(result.state.config)
    Asking(world, result).call("ApplyConfiguration", data=new, mode="STAGED")
    assert result.state.config != new
    Asking(world, result).call("Reboot")
    world.settle()
    assert result.state.config == new


def test_a_tried_configuration_is_taken_back() -> None:
    world = staged("single", "1.12.1")
    result = machine(world)
    old = result.state.config
    new = debugged(old)
    reply = Asking(world, result).call("ApplyConfiguration", data=new, mode="TRY")
    assert "will be automatically reverted back in 1m0s" in reply.mode_details
    assert result.state.config == new
    world.advance(59.0)
    assert result.state.config == new
    world.advance(2.0)
    assert result.state.config == old


def test_another_configuration_ends_the_trial() -> None:
    world = staged("single", "1.12.1")
    result = machine(world)
    new = debugged(result.state.config)
    Asking(world, result).call("ApplyConfiguration", data=new, mode="TRY")
    Asking(world, result).call("ApplyConfiguration", data=new, mode="NO_REBOOT")
    world.advance(120.0)
    assert result.state.config == new


def test_a_dry_run_changes_nothing_and_shows_the_difference() -> None:
    world = staged("single", "1.13.9")
    result = machine(world)
    old = result.state.config
    reply = Asking(world, result).call(
        "ApplyConfiguration", data=debugged(old), mode="AUTO", dry_run=True
    )
    assert reply.mode_details.startswith("Dry run summary:\n")
    assert "debug: true" in reply.mode_details
    assert result.state.config == old


@pytest.mark.parametrize(
    "text", [b"", b"machine: [", b"apiVersion: v1alpha1\nkind: Nonsense\n", b"\xff\xfe"]
)
def test_what_talos_does_not_take_is_refused(text: bytes) -> None:
    world = staged("single", "1.13.9")
    with pytest.raises(Refusal) as caught:
        Asking(world, machine(world)).call("ApplyConfiguration", data=text, mode="AUTO")
    assert caught.value.code is GrpcCode.INVALID_ARGUMENT
    assert machine(world).state.stage is Stage.RUNNING


def test_a_reader_may_not_apply_once_the_machine_runs() -> None:
    world = staged("single", "1.13.9")
    result = machine(world)
    with pytest.raises(Refusal) as caught:
        Asking(world, result, "os:reader").call(
            "ApplyConfiguration", data=result.state.config, mode="AUTO"
        )
    assert caught.value.code is GrpcCode.PERMISSION_DENIED
