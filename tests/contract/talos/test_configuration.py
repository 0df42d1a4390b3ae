"""What holds for configurations and files of clients through any door."""

import traceback

import pytest

from lab.tests.talos.staged import staged
from stockman.model.errors import Rejected, Unsupported
from stockman.model.secret import Secret
from stockman.talos.api.client import TalosClient
from stockman.talos.records.operations import (
    ApplyConfigurationRequest,
    ApplyConfigurationResult,
    ApplyMode,
)
from tests.contract.talos.doors import Backend, Stage

MINORS = ("1.11.5", "1.12.1", "1.13.9", "1.14.1")
CANARY = "c4n4ry-0123456789-abcdef"


def changed(text: Secret, mode: ApplyMode, dry_run: bool = False) -> ApplyConfigurationRequest:
    """The same configuration with a setting of the kernel that it did not have."""
    setting = '    sysctls:\n        vm.max_map_count: "262144"\n'
    more = text.reveal().replace("\nmachine:\n", f"\nmachine:\n{setting}", 1)
    return ApplyConfigurationRequest(text=Secret(more, resolved=True), mode=mode, dry_run=dry_run)


@pytest.mark.parametrize("version", MINORS)
def test_the_configuration_is_read_as_it_was_applied(backend: Backend, version: str) -> None:
    async def story(talos: TalosClient, stage: Stage) -> bool:
        machine_configuration = await talos.machine_configuration(stage.node())
        return machine_configuration.reveal().encode() == stage.machine().state.config

    assert backend(staged("single", version), story)


@pytest.mark.parametrize("version", MINORS)
def test_a_change_is_applied_without_a_reboot(backend: Backend, version: str) -> None:
    async def story(talos: TalosClient, stage: Stage) -> tuple[ApplyConfigurationResult, str]:
        node = stage.node()
        before = await talos.machine_configuration(node)
        applied = await talos.apply_configuration(node, changed(before, ApplyMode.NO_REBOOT))
        return applied, (await talos.machine_configuration(node)).reveal()

    applied, after = backend(staged("single", version), story)

    assert applied.mode is ApplyMode.NO_REBOOT
    assert not applied.reboots
    assert "sysctls:" in after


def test_a_dry_run_changes_nothing_and_shows_no_secret_by_accident(backend: Backend) -> None:
    async def story(
        talos: TalosClient, stage: Stage
    ) -> tuple[ApplyConfigurationResult, Secret, Secret]:
        node = stage.node()
        before = await talos.machine_configuration(node)
        applied = await talos.apply_configuration(
            node, changed(before, ApplyMode.AUTO, dry_run=True)
        )
        return applied, before, await talos.machine_configuration(node)

    applied, before, after = backend(staged(), story)

    assert applied.details.reveal().startswith("Dry run summary:")
    assert "Dry run" not in repr(applied)
    assert before == after


def test_a_try_goes_back_by_itself(backend: Backend) -> None:
    async def story(
        talos: TalosClient, stage: Stage
    ) -> tuple[ApplyConfigurationResult, bool, bool]:
        node = stage.node()
        before = await talos.machine_configuration(node)
        applied = await talos.apply_configuration(node, changed(before, ApplyMode.TRY))
        stage.settle()
        after = await talos.machine_configuration(node)
        return applied, "sysctls:" in after.reveal(), before == after

    applied, is_there, is_back = backend(staged(), story)

    assert applied.mode is ApplyMode.TRY
    assert (is_there, is_back) == (False, True)


def test_the_newest_minor_does_not_reboot_for_a_configuration(backend: Backend) -> None:
    async def story(talos: TalosClient, stage: Stage) -> None:
        before = await talos.machine_configuration(stage.node())
        with pytest.raises(Unsupported):
            await talos.apply_configuration(stage.node(), changed(before, ApplyMode.REBOOT))

    backend(staged("single", "1.14.1"), story)


def test_a_wrong_configuration_is_rejected_in_the_words_of_talos(backend: Backend) -> None:
    async def story(talos: TalosClient, stage: Stage) -> str:
        wrong = f"version: v1alpha1\nmachine:\n  type: queen\n  token: {CANARY}\n"
        application = ApplyConfigurationRequest(text=Secret(wrong), mode=ApplyMode.AUTO)
        with pytest.raises(Rejected) as caught:
            await talos.apply_configuration(stage.node(), application)
        assert CANARY not in "".join(traceback.format_exception(caught.value))
        return f"{caught.value.problem}"

    actual = backend(staged(), story)

    assert "talos.rejected" in actual
    assert "queen" in actual
    assert CANARY not in actual


@pytest.mark.parametrize("version", MINORS)
def test_a_kubeconfig_is_made(backend: Backend, version: str) -> None:
    async def story(talos: TalosClient, stage: Stage) -> Secret:
        return await talos.kubeconfig(stage.node())

    result = backend(staged("single", version), story)

    assert "client-certificate-data:" in result.reveal()
    assert repr(result) == "***"
