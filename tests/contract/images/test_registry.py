"""What holds for registries through any door."""

from __future__ import annotations

import asyncio

import pytest
from stockman_lab.core.faults import Effect, Point

from stockman.model.errors import Busy, NotFound, Refused, Rejected, Unreachable
from stockman.talos.schematic import ImageSchematic, canonical_text, schematic_id
from tests.contract.images.doors import Backend, Scene

AGENT = ImageSchematic(extensions=("siderolabs/qemu-guest-agent",))
AGENT_ID = schematic_id(AGENT)
EMPTY_ID = schematic_id(ImageSchematic())


def installer(scene: Scene, tag: str = "v1.13.9", platform: str = "nocloud") -> str:
    return f"{scene.host}/{platform}-installer/{AGENT_ID}:{tag}"


def test_an_installer_is_there_once_its_schematic_is_registered(backend: Backend) -> None:
    async def story(scene: Scene) -> tuple[str, tuple[str, ...]]:
        with pytest.raises(NotFound):
            await scene.images.digest(installer(scene))
        await scene.images.register(canonical_text(AGENT))
        digest = await scene.images.digest(installer(scene))
        image = await scene.images.image(installer(scene))
        assert image.digest == digest
        return digest, image.architectures

    digest, architectures = backend(story)

    assert digest.startswith("sha256:")
    assert architectures == ("amd64", "arm64")


def test_platforms_versions_and_schematics_have_installers_of_their_own(backend: Backend) -> None:
    async def story(scene: Scene) -> int:
        await scene.images.register(canonical_text(AGENT))
        references = [
            installer(scene),
            installer(scene, "v1.13.8"),
            installer(scene, platform="metal"),
            installer(scene).replace("-installer/", "-installer-secureboot/"),
            installer(scene).replace(AGENT_ID, EMPTY_ID),
        ]
        return len({await scene.images.digest(reference) for reference in references})

    assert backend(story) == 5


def test_a_digest_stands_for_itself(backend: Backend) -> None:
    async def story(scene: Scene) -> bool:
        await scene.images.register(canonical_text(AGENT))
        digest = await scene.images.digest(installer(scene))
        pinned = f"{installer(scene).rpartition(':')[0]}@{digest}"
        with pytest.raises(NotFound):
            await scene.images.digest(f"{pinned[:-1]}{'0' if pinned[-1] != '0' else '1'}")
        return await scene.images.digest(pinned) == digest

    assert backend(story)


@pytest.mark.parametrize(
    "missing", ["siderolabs/installer:v1.14.1", "nobody/nothing:v1", "siderolabs/talos:v1.99.0"]
)
def test_what_was_never_published_is_not_found(backend: Backend, missing: str) -> None:
    async def story(scene: Scene) -> None:
        with pytest.raises(NotFound):
            await scene.images.digest(f"{scene.host}/{missing}")

    backend(story)


@pytest.mark.parametrize("wrong", ["kubelet", "Host/Path:v1", "host/path", "host/path:", ""])
def test_a_text_that_names_no_image_is_refused(backend: Backend, wrong: str) -> None:
    async def story(scene: Scene) -> None:
        with pytest.raises(Refused, match=r"images\.address"):
            await scene.images.digest(wrong)

    backend(story)


def test_a_registry_that_has_had_enough_says_for_how_long(backend: Backend) -> None:
    async def story(scene: Scene) -> float | None:
        scene.let(Point.REGISTRY, Effect.FAIL, status=429, seconds=7)
        with pytest.raises(Busy) as caught:
            await scene.images.digest(f"{scene.host}/kube-apiserver:v1.36.3")
        return caught.value.retry_after

    assert backend(story) == 7


def test_a_registry_that_is_down_is_unreachable(backend: Backend) -> None:
    async def story(scene: Scene) -> None:
        scene.let(Point.REGISTRY, Effect.KILL, times=None)
        with pytest.raises(Unreachable):
            await scene.images.digest(f"{scene.host}/kube-apiserver:v1.36.3")

    backend(story)


def test_a_manifest_that_was_changed_on_the_way_is_rejected(backend: Backend) -> None:
    async def story(scene: Scene) -> None:
        scene.let(Point.REGISTRY, Effect.CORRUPT)
        with pytest.raises(Rejected, match=r"images\.content"):
            await scene.images.image(f"{scene.host}/kube-apiserver:v1.36.3")

    backend(story)


def test_questions_go_side_by_side(backend: Backend) -> None:
    async def story(scene: Scene) -> int:
        async with asyncio.TaskGroup() as group:
            name = f"{scene.host}/siderolabs/kubelet:v1.36.3"
            tasks = [group.create_task(scene.images.digest(name)) for _ in range(30)]
        return len({task.result() for task in tasks})

    assert backend(story) == 1
