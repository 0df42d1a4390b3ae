"""What holds for a machine through any door: what it is, and how it is."""

import asyncio

import pytest

from lab.tests.talos.staged import staged
from stockman.model.errors import Denied, NotFound, Unreachable
from stockman.model.names import MachineAddress
from stockman.talos.api.client import TalosClient
from stockman.talos.records.machines import TalosVersion, network_cards
from tests.contract.talos.doors import Backend, Stage

MINORS = ("1.11.5", "1.12.1", "1.13.9", "1.14.1")
READER = "os:reader"
NOWHERE = MachineAddress("127.67.99.99")


@pytest.mark.parametrize("version", MINORS)
def test_a_machine_tells_what_it_is(backend: Backend, version: str) -> None:
    async def story(talos: TalosClient, stage: Stage) -> TalosVersion:
        return await talos.version(stage.node())

    result = backend(staged("single", version), story)

    assert (result.tag, result.platform, result.mode) == (f"v{version}", "nocloud", "cloud")


@pytest.mark.parametrize("version", MINORS)
def test_a_machine_that_is_up_says_so_in_every_minor(backend: Backend, version: str) -> None:
    async def story(talos: TalosClient, stage: Stage) -> None:
        node = stage.node()
        status = await talos.machine_status(node)
        assert status.is_up
        services = {service.id: service for service in await talos.services(node)}
        assert services["etcd"].is_running
        assert services["etcd"].healthy is True
        assert len(await talos.boot_id(node)) == 36
        assert (await talos.time_sync(node)).synced
        assert abs((await talos.clock_reading(node)).skew) < 1.0
        assert await talos.hostname(node) == "talos-1"
        (neighbour,) = await talos.neighbours(node)
        assert (neighbour.hostname, neighbour.role) == ("talos-1", "controlplane")
        assert node in neighbour.addresses

    backend(staged("single", version), story)


@pytest.mark.parametrize("version", MINORS)
def test_cards_are_counted_whatever_they_are_called(backend: Backend, version: str) -> None:
    async def story(talos: TalosClient, stage: Stage) -> None:
        node = stage.node()
        links = await talos.links(node)
        (card,) = network_cards(links)
        assert card.is_up
        assert "lo" in {link.name for link in links}
        addresses = {address.address.partition("/")[0] for address in await talos.addresses(node)}
        assert str(node) in addresses

    backend(staged("single", version), story)


@pytest.mark.parametrize("version", MINORS)
def test_disks_extensions_and_schematic_are_told(backend: Backend, version: str) -> None:
    async def story(talos: TalosClient, stage: Stage) -> None:
        node = stage.node()
        disks = {disk.path: disk for disk in await talos.disks(node)}
        system = await talos.system_disk(node)
        assert system == "/dev/sda"
        assert disks[system].size > 1 << 30
        assert [disk.path for disk in disks.values() if disk.is_cdrom] == ["/dev/sr0"]
        assert [extension.name for extension in await talos.extensions(node)] == [
            "qemu-guest-agent"
        ]
        schematic = await talos.schematic(node)
        assert schematic is not None
        assert len(schematic) == 64

    backend(staged("single", version), story)


@pytest.mark.parametrize("version", MINORS)
def test_parts_of_kubernetes_are_told(backend: Backend, version: str) -> None:
    async def story(talos: TalosClient, stage: Stage) -> None:
        node = stage.node()
        pods = await talos.static_pods(node)
        assert "kube-system/kube-apiserver-talos-1" in {pod.id for pod in pods}
        assert all(pod.ready for pod in pods)
        kubelet = await talos.kubelet(node)
        assert kubelet.nodename == "talos-1"
        assert "/kubelet:v" in kubelet.image
        kubernetes_node = await talos.kubernetes_node(node)
        assert (kubernetes_node.name, kubernetes_node.ready, kubernetes_node.unschedulable) == (
            "talos-1",
            True,
            False,
        )

    backend(staged("single", version), story)


def test_a_reader_sees_no_secrets_and_changes_nothing(backend: Backend) -> None:
    async def story(talos: TalosClient, stage: Stage) -> None:
        node = stage.node()
        assert (await talos.machine_status(node)).is_up
        for refused in (
            talos.machine_configuration(node),
            talos.kubeconfig(node),
            talos.reboot(node),
            talos.boot_id(node),
        ):
            with pytest.raises(Denied) as caught:
                await refused
            assert caught.value.problem.code == "talos.denied"

    backend(staged("single", "1.13.9"), story, READER)


def test_a_reader_of_the_newest_minor_sees_the_boot_id(backend: Backend) -> None:
    async def story(talos: TalosClient, stage: Stage) -> str:
        return await talos.boot_id(stage.node())

    world = staged("single", "1.14.1")

    assert backend(world, story, READER) == next(iter(world.talos.machines)).state.boot_id


def test_a_machine_is_reached_through_another_one(backend: Backend) -> None:
    async def story(talos: TalosClient, stage: Stage) -> list[str]:
        names = ("talos-neo", "talos-niobe", "talos-trinity")
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(talos.hostname(stage.node(name))) for name in names]
        return [task.result() for task in tasks]

    assert backend(staged("three-node"), story) == ["talos-neo", "talos-niobe", "talos-trinity"]


def test_a_machine_without_power_is_unreachable_and_the_others_answer(backend: Backend) -> None:
    async def story(talos: TalosClient, stage: Stage) -> None:
        down, up = stage.node("talos-niobe"), stage.node("talos-trinity")
        stage.power_off("talos-niobe")
        with pytest.raises(Unreachable) as caught:
            await talos.version(down)
        assert caught.value.problem.code == "talos.node-down"
        with pytest.raises(Unreachable):
            await talos.reboot(down)
        assert await talos.hostname(up) == "talos-trinity"

    backend(staged("three-node"), story)


def test_an_endpoint_without_power_is_skipped(backend: Backend) -> None:
    async def story(talos: TalosClient, stage: Stage) -> str:
        first, last = stage.world.talos.machines[0].hostname, stage.world.talos.machines[-1]
        await talos.version(MachineAddress(last.address))
        stage.power_off(first)
        return await talos.hostname(MachineAddress(last.address))

    assert backend(staged("three-node"), story).startswith("talos-")


def test_without_any_machine_nothing_answers(backend: Backend) -> None:
    async def story(talos: TalosClient, stage: Stage) -> None:
        node = stage.node()
        stage.power_off("")
        with pytest.raises(Unreachable) as caught:
            await talos.version(node)
        assert caught.value.problem.code == "talos.unreachable"

    backend(staged(), story)


def test_what_is_not_there_is_not_found(backend: Backend) -> None:
    async def story(talos: TalosClient, stage: Stage) -> None:
        with pytest.raises(NotFound):
            await talos.read_file(stage.node(), "/var/nothing")

    backend(staged(), story)


def test_a_machine_that_nobody_knows_is_unreachable(backend: Backend) -> None:
    async def story(talos: TalosClient, stage: Stage) -> None:
        del stage
        with pytest.raises(Unreachable):
            await talos.version(NOWHERE)

    backend(staged(), story)


def test_a_machine_that_runs_tells_the_uuid_of_its_vm(backend: Backend) -> None:
    async def story(talos: TalosClient, stage: Stage) -> tuple[str, str]:
        return str(await talos.system_uuid(stage.node())), stage.machine().state.uuid

    actual, known = backend(staged(), story)

    assert actual == known
