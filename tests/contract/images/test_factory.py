"""What holds for the Image Factory through any door."""

from __future__ import annotations

import hashlib

import pytest
from stockman_lab.core.faults import Effect, Point
from stockman_lab.images.image import Form, read_image

from stockman.model.errors import Busy, NotFound, Rejected, StockmanError, Unreachable
from stockman.model.names import SchematicId
from stockman.model.version import Version
from stockman.ports.images import RemoteFile
from stockman.talos.schematic import EMPTY, ImageSchematic, canonical_text, schematic_id
from tests.contract.images.doors import Backend, Scene

AGENT = ImageSchematic(extensions=("siderolabs/qemu-guest-agent",))
AGENT_ID = schematic_id(AGENT)
UNKNOWN = SchematicId("0" * 64)
T113 = Version.parse("1.13.9")


def image_url(scene: Scene, file: str = "nocloud-amd64.qcow2", version: str = "v1.13.9") -> str:
    return f"{scene.url}/image/{AGENT_ID}/{version}/{file}"


async def content(scene: Scene, url: str, sha256: str = "") -> bytes:
    return b"".join([piece async for piece in scene.images.read(url, sha256=sha256)])


def test_a_schematic_gets_the_id_that_is_computed_without_a_factory(backend: Backend) -> None:
    async def story(scene: Scene) -> tuple[str, str, str]:
        first = await scene.images.register(canonical_text(AGENT))
        again = await scene.images.register(canonical_text(AGENT))
        return first, again, await scene.images.schematic(first)

    assert backend(story) == (AGENT_ID, AGENT_ID, canonical_text(AGENT))


def test_the_empty_schematic_is_there_and_others_are_not(backend: Backend) -> None:
    async def story(scene: Scene) -> str:
        with pytest.raises(NotFound):
            await scene.images.schematic(UNKNOWN)
        return await scene.images.schematic(schematic_id(EMPTY))

    assert backend(story) == "customization: {}\n"


def test_a_schematic_with_an_unknown_key_is_rejected_with_the_reason(backend: Backend) -> None:
    async def story(scene: Scene) -> str:
        with pytest.raises(Rejected) as caught:
            await scene.images.register("customisation: {}\n")
        return caught.value.problem.why

    assert "customisation is not a key of the schematic" in backend(story)


def test_versions_are_told_in_order(backend: Backend) -> None:
    result = backend(lambda scene: scene.images.versions())

    assert T113 in result
    assert list(result) == sorted(result)
    assert any(item.pre for item in result)


def test_extensions_of_a_version_are_told_with_their_digests(backend: Backend) -> None:
    async def story(scene: Scene) -> tuple[set[str], set[str]]:
        new = await scene.images.extensions(Version.parse("1.14.1"))
        old = await scene.images.extensions(Version.parse("1.10.0"))
        assert all(item.digest.startswith("sha256:") for item in new)
        assert all(item.ref == f"ghcr.io/{item.name}:v1.14.1" for item in new)
        return {item.name for item in new}, {item.name for item in old}

    new, old = backend(story)

    assert "siderolabs/qemu-guest-agent" in old < new


def test_a_version_that_is_not_built_has_no_extensions(backend: Backend) -> None:
    async def story(scene: Scene) -> None:
        with pytest.raises(NotFound, match=r"images\.not-found"):
            await scene.images.extensions(Version.parse("1.99.0"))

    backend(story)


def test_an_image_says_what_it_is(backend: Backend) -> None:
    async def story(scene: Scene) -> tuple[RemoteFile, bytes, bytes]:
        await scene.images.register(canonical_text(AGENT))
        url = image_url(scene)
        return (
            await scene.images.file(url),
            await content(scene, url),
            await content(scene, image_url(scene, version="1.13.9")),
        )

    file, first, second = backend(story)
    image = read_image(first)

    assert first == second
    assert file == RemoteFile(size=len(first), name="nocloud-amd64.qcow2")
    assert image.form is Form.QCOW2
    assert image.facts is not None
    assert (image.facts.platform, image.facts.version) == ("nocloud", "v1.13.9")
    assert image.facts.schematic == AGENT_ID


def test_an_image_has_no_content_before_its_schematic_is_registered(backend: Backend) -> None:
    async def story(scene: Scene) -> None:
        with pytest.raises(NotFound):
            await content(scene, image_url(scene))
        with pytest.raises(NotFound):
            await scene.images.file(image_url(scene))

    backend(story)


def test_a_checksum_that_fits_passes_and_another_one_is_rejected(backend: Backend) -> None:
    async def story(scene: Scene) -> None:
        await scene.images.register(canonical_text(AGENT))
        url = image_url(scene)
        right = hashlib.sha256(await content(scene, url)).hexdigest()
        assert await content(scene, url, right.upper())
        with pytest.raises(Rejected, match=r"images\.content"):
            await content(scene, url, "0" * 64)

    backend(story)


def test_the_public_factory_tells_no_checksum(backend: Backend) -> None:
    async def story(scene: Scene) -> str:
        await scene.images.register(canonical_text(AGENT))
        return await scene.images.checksum(image_url(scene))

    assert backend(story) == ""


def test_a_factory_of_the_other_edition_tells_the_checksum_of_an_image(backend: Backend) -> None:
    async def story(scene: Scene) -> tuple[str, str]:
        scene.world.factory.enterprise = True
        await scene.images.register(canonical_text(AGENT))
        url = image_url(scene)
        expected = hashlib.sha256(await content(scene, url)).hexdigest()
        return await scene.images.checksum(url), f"sha256:{expected}"

    actual, expected = backend(story)

    assert actual == expected


def test_a_factory_that_cannot_answer_is_not_taken_for_one_without_checksums(
    backend: Backend,
) -> None:
    async def story(scene: Scene) -> None:
        scene.let(Point.FACTORY, Effect.FAIL, status=503, times=None)
        with pytest.raises(Unreachable):
            await scene.images.checksum(image_url(scene))

    backend(story)


def test_a_damaged_image_is_noticed_by_its_checksum(backend: Backend) -> None:
    async def story(scene: Scene) -> None:
        await scene.images.register(canonical_text(AGENT))
        url = image_url(scene)
        right = hashlib.sha256(await content(scene, url)).hexdigest()
        scene.let(Point.FACTORY, Effect.CORRUPT)
        with pytest.raises(Rejected, match=r"images\.content"):
            await content(scene, url, right)

    backend(story)


def test_an_image_that_ends_in_the_middle_is_noticed_without_a_checksum(backend: Backend) -> None:
    async def story(scene: Scene) -> None:
        await scene.images.register(canonical_text(AGENT))
        scene.let(Point.FACTORY, Effect.CORRUPT, message="truncated", times=None)
        with pytest.raises(Unreachable):
            await content(scene, image_url(scene))

    backend(story)


def test_a_factory_that_has_had_enough_says_for_how_long(backend: Backend) -> None:
    async def story(scene: Scene) -> float | None:
        scene.let(Point.FACTORY, Effect.FAIL, status=429, seconds=30)
        with pytest.raises(Busy) as caught:
            await scene.images.versions()
        assert await scene.images.versions()
        return caught.value.retry_after

    assert backend(story) == 30


@pytest.mark.parametrize(
    ("effect", "status"), [(Effect.FAIL, 500), (Effect.FAIL, 502), (Effect.CUT, 0)]
)
def test_a_factory_that_is_down_is_unreachable(
    backend: Backend, effect: Effect, status: int
) -> None:
    async def story(scene: Scene) -> type[StockmanError]:
        scene.let(Point.FACTORY, effect, status=status, times=None)
        with pytest.raises(StockmanError) as caught:
            await scene.images.versions()
        return type(caught.value)

    assert backend(story) is Unreachable


def test_a_claimed_registration_leaves_no_schematic(backend: Backend) -> None:
    async def story(scene: Scene) -> None:
        scene.let(Point.FACTORY, Effect.CLAIM)
        assert await scene.images.register(canonical_text(AGENT)) == AGENT_ID
        with pytest.raises(NotFound):
            await scene.images.schematic(AGENT_ID)

    backend(story)
