"""What holds for reboots, resets, upgrades and images through any door."""

import pytest
from stockman_lab.core.faults import Effect, Fault, Point
from stockman_lab.talos.state import Stage as MachineStage

from lab.tests.talos.methods.test_upgrading import installer
from lab.tests.talos.staged import staged
from stockman.model.errors import NotFound, Rejected, Uncertain, Unsupported
from stockman.talos.api.client import TalosClient
from stockman.talos.records.operations import (
    ImageStore,
    RebootMode,
    ResetRequest,
    UpgradeApi,
    UpgradeRequest,
    UpgradeResult,
)
from tests.contract.talos.doors import Backend, Stage

MINORS = ("1.11.5", "1.12.1", "1.13.9", "1.14.1")


@pytest.mark.parametrize("version", MINORS)
def test_a_reboot_gives_another_boot_id(backend: Backend, version: str) -> None:
    async def story(talos: TalosClient, stage: Stage) -> tuple[str, str, bool]:
        node = stage.node()
        before = await talos.boot_id(node)
        assert await talos.reboot(node) != ""
        stage.settle()
        return before, await talos.boot_id(node), (await talos.machine_status(node)).is_up

    before, after, is_up = backend(staged("single", version), story)

    assert before != after
    assert is_up


def test_a_forced_reboot_is_refused_where_talos_would_not_know_it(backend: Backend) -> None:
    async def story(talos: TalosClient, stage: Stage) -> None:
        with pytest.raises(Unsupported):
            await talos.reboot(stage.node(), RebootMode.FORCE)
        assert stage.machine().state.stage is MachineStage.RUNNING

    backend(staged("single", "1.11.5"), story)


def test_a_shutdown_takes_the_power(backend: Backend) -> None:
    async def story(talos: TalosClient, stage: Stage) -> bool:
        await talos.shut_down(stage.node(), force=True)
        stage.settle()
        return stage.machine().state.is_on

    assert backend(staged(), story) is False


def test_a_reset_leaves_a_machine_that_does_not_come_back_by_itself(backend: Backend) -> None:
    async def story(talos: TalosClient, stage: Stage) -> None:
        node, other = stage.node("talos-neo"), stage.node("talos-trinity")
        await talos.reset(node, ResetRequest(graceful=True, reboot=False))
        stage.settle()
        assert not stage.machine("talos-neo").state.is_on
        members = await talos.etcd_members(other)
        assert {member.hostname for member in members} == {"talos-niobe", "talos-trinity"}

    backend(staged("three-node"), story)


@pytest.mark.parametrize(
    ("version", "target", "api"),
    [
        ("1.11.5", "1.12.1", UpgradeApi.LEGACY),
        ("1.12.1", "1.13.9", UpgradeApi.LEGACY),
        ("1.13.9", "1.14.1", UpgradeApi.LIFECYCLE),
    ],
)
def test_an_upgrade_goes_the_way_that_this_talos_offers(
    backend: Backend, version: str, target: str, api: UpgradeApi
) -> None:
    async def story(talos: TalosClient, stage: Stage) -> tuple[UpgradeResult, list[str], str]:
        node, lines = stage.node(), list[str]()
        done = await talos.upgrade(node, UpgradeRequest(image=installer(target)), lines.append)
        if not done.reboots:
            await talos.reboot(node)
        stage.settle()
        return done, lines, (await talos.version(node)).tag

    done, lines, tag = backend(staged("single", version), story)

    assert (done.api, tag) == (api, f"v{target}")
    assert bool(done.actor) is done.reboots
    assert lines == list(done.lines)
    assert bool(lines) is not done.reboots


def test_an_installer_that_fails_is_no_upgrade(backend: Backend) -> None:
    async def story(talos: TalosClient, stage: Stage) -> None:
        with pytest.raises(Rejected) as caught:
            await talos.upgrade(stage.node(), UpgradeRequest(image=installer("1.14.1")))
        assert caught.value.problem.code == "talos.installer"
        assert "exit code 7" in caught.value.problem.why
        assert "no room" in caught.value.problem.why

    world = staged()
    match = {"step": "upgrade"}
    world.faults.add(Fault(Point.TALOS_STEP, Effect.FAIL, match, message="no room"))
    backend(world, story)


def test_an_installer_that_does_not_tell_how_it_ended_is_uncertain(backend: Backend) -> None:
    async def story(talos: TalosClient, stage: Stage) -> None:
        await talos.pull_image(stage.node(), installer("1.14.1"), ImageStore.SYSTEM)
        with pytest.raises(Uncertain):
            await talos.run_installer(stage.node(), installer("1.14.1"))

    world = staged()
    match = {"service": "machine.LifecycleService"}
    world.faults.add(Fault(Point.TALOS_CALL, Effect.DO_THEN_CUT, match))
    backend(world, story)


def test_an_installer_that_was_not_pulled_is_not_found(backend: Backend) -> None:
    async def story(talos: TalosClient, stage: Stage) -> None:
        with pytest.raises(NotFound):
            await talos.run_installer(stage.node(), installer("1.14.1"))

    backend(staged(), story)


def test_a_rollback_brings_the_version_before_back(backend: Backend) -> None:
    async def story(talos: TalosClient, stage: Stage) -> str:
        node = stage.node()
        await talos.upgrade(node, UpgradeRequest(image=installer("1.14.1")))
        await talos.reboot(node)
        stage.settle()
        await talos.roll_back(node)
        stage.settle()
        return (await talos.version(node)).tag

    assert backend(staged(), story) == "v1.13.9"


@pytest.mark.parametrize("version", ["1.12.1", "1.13.9"])
def test_an_image_that_was_pulled_is_listed(backend: Backend, version: str) -> None:
    async def story(talos: TalosClient, stage: Stage) -> set[str]:
        await talos.pull_image(stage.node(), installer(version), ImageStore.SYSTEM)
        return {image.name for image in await talos.images(stage.node(), ImageStore.SYSTEM)}

    assert installer(version) in backend(staged("single", version), story)


def test_an_image_that_is_nowhere_is_not_pulled(backend: Backend) -> None:
    async def story(talos: TalosClient, stage: Stage) -> None:
        with pytest.raises((NotFound, Rejected)):
            await talos.pull_image(stage.node(), installer("1.13.77"), ImageStore.SYSTEM)

    backend(staged(), story)


def test_a_change_whose_answer_was_lost_is_uncertain_and_made_once(backend: Backend) -> None:
    async def story(talos: TalosClient, stage: Stage) -> None:
        with pytest.raises(Uncertain) as caught:
            await talos.reboot(stage.node())
        assert caught.value.problem.code == "talos.unknown-outcome"

    world = staged()
    fault = Fault(Point.TALOS_CALL, Effect.DO_THEN_CUT, {"method": "Reboot"}, times=None)
    world.faults.add(fault)
    backend(world, story)

    assert fault.struck == 1
