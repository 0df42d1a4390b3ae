"""What holds for events, logs, files and META values through any door."""

from contextlib import aclosing

import pytest

from lab.tests.talos.staged import staged
from stockman.model.errors import Rejected
from stockman.model.secret import Secret
from stockman.talos.api.client import TalosClient
from stockman.talos.records.machines import EventsRequest, ServiceLogRequest
from tests.contract.talos.doors import Backend, Stage


def test_events_of_a_reboot_are_told_to_who_listens(backend: Backend) -> None:
    async def story(talos: TalosClient, stage: Stage) -> tuple[str, set[str], set[str]]:
        node = stage.node()
        kinds, actors = set[str](), set[str]()
        async with aclosing(talos.events(node)) as events:
            greeting = await anext(events)
            assert greeting.kind == ""
            actor = await talos.reboot(node)
            async for event in events:
                kinds.add(event.kind)
                actors.add(event.actor)
                if event.kind == "TaskEvent":
                    break
        return actor, kinds, actors

    actor, kinds, actors = backend(staged(), story)

    assert "SequenceEvent" in kinds
    assert actor in actors


def test_events_that_were_are_told_after_an_id(backend: Backend) -> None:
    async def story(talos: TalosClient, stage: Stage) -> None:
        node = stage.node()
        async with aclosing(talos.events(node, EventsRequest(last=2))) as events:
            result = [await anext(events) for _ in range(3)]
        async with aclosing(talos.events(node, EventsRequest(after=result[1].id))) as events:
            again = [await anext(events) for _ in range(2)]
        assert again[1] == result[2]
        assert result[2].content != {}

    backend(staged(), story)


def test_logs_are_told_line_by_line(backend: Backend) -> None:
    async def story(talos: TalosClient, stage: Stage) -> None:
        node = stage.node()
        lines = [line async for line in talos.service_log(node, ServiceLogRequest(service="etcd"))]
        assert lines
        last = [
            line
            async for line in talos.service_log(node, ServiceLogRequest(service="etcd", last=1))
        ]
        assert last == lines[-1:]
        assert [line async for line in talos.kernel_log(node)]
        with pytest.raises(Rejected):
            await anext(talos.service_log(node, ServiceLogRequest(service="nothing")))

    backend(staged(), story)


def test_a_file_is_read(backend: Backend) -> None:
    async def story(talos: TalosClient, stage: Stage) -> bytes:
        return await talos.read_file(stage.node(), "/proc/sys/kernel/random/boot_id")

    world = staged()

    assert backend(world, story).decode().strip() == world.talos.machines[0].state.boot_id


def test_a_meta_value_is_set(backend: Backend) -> None:
    async def story(talos: TalosClient, stage: Stage) -> None:
        node = stage.node()
        await talos.write_meta(node, 12, Secret("mine"))
        disk = stage.machine().disk
        assert disk is not None
        assert "12" in disk.meta

    backend(staged(), story)


def test_a_meta_key_that_cannot_be_is_rejected(backend: Backend) -> None:
    async def story(talos: TalosClient, stage: Stage) -> None:
        with pytest.raises(Rejected):
            await talos.write_meta(stage.node(), 256, Secret("mine"))

    backend(staged(), story)
