"""What comes of a storage that fails, lies, or dies in the middle."""

from __future__ import annotations

import pytest
from stockman_lab.core.faults import Effect

from stockman.model.errors import Busy, Denied, Rejected, Uncertain, Unreachable
from stockman.s3.archives import list_archives, list_leftovers, read_archive, store_archive
from tests.contract.objects.doors import Backend, Scene, pieces, whole

MIB = 1 << 20
LARGE = b"w" * (11 * MIB)


@pytest.mark.parametrize("effect", [Effect.FAIL, Effect.CUT])
def test_a_storage_that_is_down_is_told_as_such(backend: Backend, effect: Effect) -> None:
    async def story(scene: Scene) -> None:
        scene.let(effect, times=None)
        with pytest.raises(Unreachable):
            await scene.objects.list_objects()
        with pytest.raises(Unreachable):
            await scene.objects.put("a", pieces(b"wool"))
        with pytest.raises(Unreachable):
            await scene.objects.list_uploads()
        with pytest.raises(Unreachable):
            await scene.objects.delete("a")

    backend(story)


def test_a_storage_that_wants_to_be_left_alone_is_busy(backend: Backend) -> None:
    async def story(scene: Scene) -> None:
        scene.let(Effect.FAIL, status=503)
        with pytest.raises(Busy, match=r"objects\.busy"):
            await scene.objects.list_objects()

    backend(story)


@pytest.mark.parametrize("effect", [Effect.DO_THEN_CUT, Effect.DO_THEN_FAIL])
def test_nobody_knows_whether_an_object_was_created(backend: Backend, effect: Effect) -> None:
    async def story(scene: Scene) -> None:
        scene.let(effect, match={"operation": "put"})
        with pytest.raises(Uncertain, match=r"objects\.uncertain"):
            await scene.objects.create("lock", b"mine")
        assert await whole(scene.objects, "lock") == b"mine"

    backend(story)


def test_an_upload_that_is_cut_may_be_repeated(backend: Backend) -> None:
    async def story(scene: Scene) -> None:
        scene.let(Effect.CUT, match={"operation": "put-part"}, skip=1)
        with pytest.raises(Unreachable):
            await scene.objects.put("a", pieces(LARGE))
        assert await scene.objects.list_objects() == ()
        await scene.objects.put("a", pieces(LARGE))
        assert (await scene.objects.head("a")).size == len(LARGE)
        assert await scene.objects.list_uploads() == ()

    backend(story)


def test_a_storage_that_dies_in_the_middle_leaves_an_upload_that_is_found(backend: Backend) -> None:
    async def story(scene: Scene) -> None:
        for operation in ("put-part", "abort"):
            scene.let(Effect.CUT, match={"operation": operation}, times=4)
        with pytest.raises(Unreachable):
            await scene.objects.put("snapshots/a", pieces(LARGE))
        assert scene.world is not None
        scene.world.faults.listed.clear()
        left = await scene.objects.list_uploads("snapshots")
        assert [item.key for item in left] == ["snapshots/a"]
        assert await scene.objects.list_uploads("connect") == ()
        assert await list_archives(scene.objects) == ()
        for item in left:
            await scene.objects.abort_upload(item)
            await scene.objects.abort_upload(item)
        assert await scene.objects.list_uploads() == ()

    backend(story)


def test_many_uploads_are_listed_over_pages(backend: Backend) -> None:
    async def story(scene: Scene) -> None:
        assert scene.world is not None
        for number in range(1003):
            key = f"herd/one/{number:04}"
            _begin(scene, key)
        uploads = await scene.objects.list_uploads()
        assert [upload.key for upload in uploads] == [f"{number:04}" for number in range(1003)]

    backend(story)


def _begin(scene: Scene, key: str) -> None:
    from stockman_lab.objects.state import Multipart

    assert scene.world is not None
    bucket = scene.world.state.objects.buckets["flock"]
    bucket.uploads[f"id-{key}"] = Multipart(key=key, started_at=scene.world.now, content_type="")


@pytest.mark.parametrize("how", ["", "truncated"])
def test_other_bytes_are_noticed_before_they_count(backend: Backend, how: str) -> None:
    async def story(scene: Scene) -> None:
        scene.let(Effect.CORRUPT, match={"operation": "put-part"}, message=how)
        with pytest.raises(Rejected, match=r"objects\.content"):
            await store_archive(scene.objects, "etcd/monday", pieces(b"snapshot"), "tag1")
        assert await list_archives(scene.objects) == ()
        assert await list_leftovers(scene.objects) == ()
        await store_archive(scene.objects, "etcd/monday", pieces(b"snapshot"), "tag2")
        assert len(await list_archives(scene.objects)) == 1

    backend(story)


def test_bytes_that_rot_later_are_noticed_when_they_are_read(backend: Backend) -> None:
    async def story(scene: Scene) -> None:
        archive = await store_archive(scene.objects, "etcd/monday", pieces(b"snapshot"), "tag1")
        scene.let(Effect.CORRUPT, match={"operation": "get", "key": "*tag1"})
        with pytest.raises(Rejected, match=r"objects\.content"):
            [piece async for piece in read_archive(scene.objects, archive)]

    backend(story)


def test_a_content_that_ends_early_is_noticed(backend: Backend) -> None:
    async def story(scene: Scene) -> None:
        await scene.objects.put("a", pieces(LARGE))
        scene.let(Effect.CORRUPT, match={"operation": "get"}, message="truncated")
        with pytest.raises(Unreachable):
            await whole(scene.objects, "a")

    backend(story)


@pytest.mark.parametrize("effect", [Effect.DO_THEN_CUT, Effect.DO_THEN_FAIL])
def test_a_manifest_whose_answer_was_lost_is_looked_at(backend: Backend, effect: Effect) -> None:
    async def story(scene: Scene) -> None:
        scene.let(effect, match={"operation": "put"})
        await store_archive(scene.objects, "etcd/monday", pieces(b"snapshot"), "tag1")
        assert len(await list_archives(scene.objects)) == 1

    backend(story)


def test_clocks_that_differ_are_told(backend: Backend) -> None:
    async def story(scene: Scene) -> None:
        scene.let(Effect.LIE, seconds=3600, times=None)
        with pytest.raises(Denied, match=r"objects\.clock"):
            await scene.objects.create("a", b"wool")
        with pytest.raises(Denied, match=r"objects\.clock"):
            await scene.objects.list_uploads()

    backend(story)


def test_a_list_that_makes_no_sense_is_rejected(backend: Backend) -> None:
    async def story(scene: Scene) -> None:
        await scene.objects.create("a", b"wool")
        scene.let(Effect.CORRUPT, match={"operation": "list"}, message="")
        with pytest.raises(Rejected):
            await scene.objects.list_objects()

    backend(story)


def test_a_manifest_of_somebody_else_is_told(backend: Backend) -> None:
    async def story(scene: Scene) -> None:
        for number, text in enumerate((b"{}", b"[]", b"wool", b'{"content": "../a"}')):
            await scene.objects.create(f"etcd/{number}.manifest.json", text)
            with pytest.raises(Exception, match=r"objects\.(answer|key)"):
                await list_archives(scene.objects, "etcd")
            await scene.objects.delete(f"etcd/{number}.manifest.json")

    backend(story)
