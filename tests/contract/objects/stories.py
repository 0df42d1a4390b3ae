"""What holds for any storage, as stories that real ones are told as well."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from datetime import datetime

import pytest

from stockman.model.errors import Conflict, Denied, NotFound, Refused
from stockman.ports.objects import UnfinishedUpload
from stockman.s3.archives import (
    delete_archive,
    list_archives,
    list_leftovers,
    read_archive,
    store_archive,
)
from tests.contract.objects.doors import CANARY, Scene, pieces, whole

MIB = 1 << 20
Story = Callable[[Scene], Awaitable[None]]


async def what_is_put_comes_back(scene: Scene) -> None:
    content = bytes(range(256)) * 4096 * 13
    await scene.objects.put("snapshots/large", pieces(content[:MIB], b"", content[MIB:]))
    await scene.objects.put("snapshots/small", pieces(b"wool"))
    await scene.objects.put("snapshots/empty", pieces())

    assert await whole(scene.objects, "snapshots/large") == content
    assert await whole(scene.objects, "snapshots/small") == b"wool"
    assert await whole(scene.objects, "snapshots/empty") == b""
    assert (await scene.objects.head("snapshots/large")).size == len(content)
    assert await scene.objects.list_uploads() == ()


async def a_large_object_comes_in_pieces(scene: Scene) -> None:
    await scene.objects.put("large", pieces(b"w" * (9 * MIB)))
    sizes = [len(piece) async for piece in scene.objects.read("large")]
    assert sum(sizes) == 9 * MIB
    assert max(sizes) <= 4 * MIB


async def what_is_put_again_is_replaced(scene: Scene) -> None:
    await scene.objects.put("a", pieces(b"old"))
    before = await scene.objects.head("a")
    await scene.objects.put("a", pieces(b"newer"))
    after = await scene.objects.head("a")
    assert (before.size, after.size) == (3, 5)
    assert before.tag != after.tag


async def only_one_creates(scene: Scene) -> None:
    async def create(content: bytes) -> bool:
        try:
            await scene.objects.create("locks/upgrade", content)
        except Conflict:
            return False
        return True

    contents = [f"holder {number}".encode() for number in range(8)]
    won = await asyncio.gather(*(create(content) for content in contents))
    assert sum(won) == 1
    assert await whole(scene.objects, "locks/upgrade") == contents[won.index(True)]
    await scene.objects.delete("locks/upgrade")
    await scene.objects.create("locks/upgrade", b"another")


async def what_is_not_there_is_not_found(scene: Scene) -> None:
    with pytest.raises(NotFound):
        await scene.objects.head("none")
    with pytest.raises(NotFound):
        await whole(scene.objects, "none")
    await scene.objects.delete("none")
    assert await scene.objects.list_objects() == ()
    assert await scene.objects.list_objects("no/folder") == ()


async def a_bucket_that_is_not_there_is_not_found(scene: Scene) -> None:
    elsewhere = scene.elsewhere()
    calls: list[Awaitable[object]] = [
        elsewhere.create("a", b"wool"),
        elsewhere.put("a", pieces(b"wool")),
        elsewhere.head("a"),
        elsewhere.list_objects(),
        elsewhere.list_uploads(),
    ]
    for call in calls:
        with pytest.raises(NotFound):
            await call


async def lists_are_in_order_and_below_a_folder(scene: Scene) -> None:
    for key in ("b", "a/2", "a/1", "a/b/3", "ab/4"):
        await scene.objects.create(key, key.encode())

    async def keys(folder: str = "") -> list[str]:
        return [item.key for item in await scene.objects.list_objects(folder)]

    assert await keys() == ["a/1", "a/2", "a/b/3", "ab/4", "b"]
    assert await keys("a") == ["a/1", "a/2", "a/b/3"]
    assert await keys("a/b") == ["a/b/3"]
    facts = (await scene.objects.list_objects("ab"))[0]
    assert facts == await scene.objects.head("ab/4")
    assert facts.modified.tzinfo is not None


async def others_in_the_bucket_are_not_seen(scene: Scene) -> None:
    whole_bucket = scene.connect(replace(scene.location, prefix=""), scene.credentials)
    await whole_bucket.create("herd/two/a", b"theirs")
    await whole_bucket.create("herd/onemore", b"theirs")
    await scene.objects.create("a", b"ours")
    assert [item.key for item in await scene.objects.list_objects()] == ["a"]
    assert {item.key for item in await whole_bucket.list_objects()} == {
        "herd/one/a",
        "herd/onemore",
        "herd/two/a",
    }


async def no_odd_key_leaves_the_house(scene: Scene) -> None:
    for key in (
        "",
        "/a",
        "a/",
        "a//b",
        "../a",
        "a/./b",
        "a b",
        "é",
        "a\n",
        "a" * 901,
        "a?b",
        "%41",
    ):
        with pytest.raises(Refused, match=r"objects\.key"):
            await scene.objects.create(key, b"wool")
        with pytest.raises(Refused, match=r"objects\.key"):
            await scene.objects.put(key, pieces(b"wool"))
    for key in ("a=b", "a+b", "a:b", "a@b", "A.B_c-d"):
        await scene.objects.create(key, b"wool")
        assert await whole(scene.objects, key) == b"wool"


async def a_wrong_key_is_denied_and_never_shown(scene: Scene) -> None:
    stranger = scene.stranger()
    calls: list[Awaitable[object]] = [
        stranger.create("a", b"wool"),
        stranger.put("a", pieces(b"wool")),
        stranger.head("a"),
        stranger.list_objects(),
        stranger.delete("a"),
        stranger.list_uploads(),
        whole(stranger, "a"),
    ]
    for call in calls:
        with pytest.raises(Denied) as caught:
            await call
        shown = f"{caught.value} {caught.value.problem} {caught.value!r}"
        assert CANARY.reveal() not in shown
        assert scene.credentials.access_key.reveal() not in shown


async def trouble_of_the_source_leaves_nothing(scene: Scene) -> None:
    async def source() -> AsyncIterator[bytes]:
        yield b"w" * (6 * MIB)
        raise ValueError("the source ends")

    with pytest.raises(ValueError, match="the source ends"):
        await scene.objects.put("a", source())
    assert await scene.objects.list_objects() == ()
    assert await scene.objects.list_uploads() == ()


async def an_upload_that_is_not_there_is_given_up_already(scene: Scene) -> None:
    facts = await _facts_of(scene)
    await scene.objects.abort_upload(
        UnfinishedUpload(key="a", upload="00000000-0000-0000-0000-000000000000", started=facts)
    )
    assert await scene.objects.list_uploads() == ()


async def a_deposit_counts_when_it_is_whole(scene: Scene) -> None:
    content = b"snapshot " * MIB
    archive = await store_archive(scene.objects, "etcd/monday", pieces(content), "tag1")
    archives = await list_archives(scene.objects, "etcd")
    assert [(item.name, item.size, item.sha256) for item in archives] == [
        ("etcd/monday", len(content), archive.sha256)
    ]
    read = b"".join([piece async for piece in read_archive(scene.objects, archives[0])])
    assert read == content
    assert await list_leftovers(scene.objects, "etcd") == ()
    await delete_archive(scene.objects, archives[0])
    assert await scene.objects.list_objects() == ()


async def of_two_deposits_of_a_name_one_stays(scene: Scene) -> None:
    await store_archive(scene.objects, "etcd/monday", pieces(b"first"), "tag1")
    with pytest.raises(Conflict):
        await store_archive(scene.objects, "etcd/monday", pieces(b"second"), "tag2")
    archives = await list_archives(scene.objects)
    assert [archive.size for archive in archives] == [len(b"first")]
    assert await list_leftovers(scene.objects) == ()


async def what_has_no_manifest_is_no_deposit(scene: Scene) -> None:
    await scene.objects.put("etcd/monday.parts/tag1", pieces(b"half of it"))
    assert await list_archives(scene.objects) == ()
    assert [object_metadata.key for object_metadata in await list_leftovers(scene.objects)] == [
        "etcd/monday.parts/tag1"
    ]


async def _facts_of(scene: Scene) -> datetime:
    await scene.objects.create("probe", b"")
    return (await scene.objects.head("probe")).modified


STORIES: dict[str, Story] = {
    story.__name__: story
    for story in (
        what_is_put_comes_back,
        a_large_object_comes_in_pieces,
        what_is_put_again_is_replaced,
        only_one_creates,
        what_is_not_there_is_not_found,
        a_bucket_that_is_not_there_is_not_found,
        lists_are_in_order_and_below_a_folder,
        others_in_the_bucket_are_not_seen,
        no_odd_key_leaves_the_house,
        a_wrong_key_is_denied_and_never_shown,
        trouble_of_the_source_leaves_nothing,
        an_upload_that_is_not_there_is_given_up_already,
        a_deposit_counts_when_it_is_whole,
        of_two_deposits_of_a_name_one_stays,
        what_has_no_manifest_is_no_deposit,
    )
}
