"""What holds for a repository through any door."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from stockman.model.errors import Conflict, NotFound, Refused
from tests.contract.repo.doors import Scene, Story

Tell = Callable[[Story], None]


async def begun(scene: Scene) -> str:
    scene.write("README.md", b"flock\n")
    commit = await scene.repo.commit(["README.md"], "Begin")
    assert commit is not None
    return commit


def test_a_new_repository_has_no_commit(tell: Tell) -> None:
    async def story(scene: Scene) -> None:
        state = await scene.repo.state()
        assert (state.branch, state.commit, state.dirty) == ("main", None, ())
        assert await scene.repo.fetch() is None
        await scene.repo.push()

    tell(story)


def test_files_are_committed_read_and_pushed(tell: Tell) -> None:
    async def story(scene: Scene) -> None:
        scene.write("kubernetes/apps/echo.yaml", b"kind: Echo\n")
        scene.write("odd name é.txt", bytes(range(256)))
        commit = await scene.repo.commit(["kubernetes/apps/echo.yaml", "odd name é.txt"], "Render")
        assert commit is not None
        assert (await scene.repo.state()).commit == commit
        assert (await scene.repo.state()).dirty == ()
        assert [item.path for item in await scene.repo.tree(commit)] == [
            "kubernetes/apps/echo.yaml",
            "odd name é.txt",
        ]
        assert [item.path for item in await scene.repo.tree(commit, "kubernetes")] == [
            "kubernetes/apps/echo.yaml"
        ]
        assert await scene.repo.read(commit, "odd name é.txt") == bytes(range(256))
        assert await scene.repo.read("HEAD", "kubernetes/apps/echo.yaml") == b"kind: Echo\n"
        await scene.repo.push()
        await scene.repo.push()
        assert await scene.repo.fetch() == commit

    tell(story)


def test_a_second_commit_of_the_same_is_none(tell: Tell) -> None:
    async def story(scene: Scene) -> None:
        first = await begun(scene)
        assert await scene.repo.commit(["README.md"], "Again") is None
        assert await scene.repo.commit(["never-there"], "Remove nothing") is None
        assert await scene.repo.commit([], "Nothing") is None
        assert (await scene.repo.state()).commit == first

    tell(story)


def test_a_removed_file_is_removed(tell: Tell) -> None:
    async def story(scene: Scene) -> None:
        first = await begun(scene)
        scene.write("other", b"stays")
        await scene.repo.commit(["other"], "More")
        scene.write("README.md", None)
        commit = await scene.repo.commit(["README.md"], "Remove")
        assert commit is not None
        assert [item.path for item in await scene.repo.tree(commit)] == ["other"]
        assert await scene.repo.read(first, "README.md") == b"flock\n"
        with pytest.raises(NotFound):
            await scene.repo.read(commit, "README.md")

    tell(story)


def test_work_of_others_is_neither_committed_nor_lost(tell: Tell) -> None:
    async def story(scene: Scene) -> None:
        await begun(scene)
        scene.write("changed", b"1")
        await scene.repo.commit(["changed"], "More")
        scene.write("staged", b"staged")
        scene.stage("staged")
        scene.write("staged", b"and changed after that")
        scene.write("changed", b"2")
        scene.write("new", b"new")
        scene.write("ours", b"ours")

        commit = await scene.repo.commit(["ours"], "Ours alone")

        assert commit is not None
        assert [item.path for item in await scene.repo.tree(commit)] == [
            "README.md",
            "changed",
            "ours",
        ]
        assert await scene.repo.read(commit, "changed") == b"1"
        assert (await scene.repo.state()).dirty == ("changed", "new", "staged")
        assert scene.staged() == {"staged"}

    tell(story)


def test_a_file_that_is_ignored_is_not_committed(tell: Tell) -> None:
    async def story(scene: Scene) -> None:
        scene.ignore("age.key")
        scene.write("age.key", b"secret")
        scene.write("a", b"a")
        with pytest.raises(Refused, match=r"repo\.path"):
            await scene.repo.commit(["a", "age.key"], "Leak")
        assert (await scene.repo.state()).commit is None

    tell(story)


@pytest.mark.parametrize(
    "path", ["", "/etc/passwd", "../a", "a/../b", "./a", "a//b", ".git/config", "a/.GIT/x", "dir"]
)
def test_what_is_no_file_of_the_work_tree_is_refused(tell: Tell, path: str) -> None:
    async def story(scene: Scene) -> None:
        scene.write("dir/a", b"a")
        with pytest.raises(Refused, match=r"repo\.path"):
            await scene.repo.commit([path], "Odd")

    tell(story)


@pytest.mark.parametrize("revision", ["none", "0" * 40, "--all", "", "a b", "HEAD:x"])
def test_a_commit_that_is_not_there_is_not_found(tell: Tell, revision: str) -> None:
    async def story(scene: Scene) -> None:
        await begun(scene)
        with pytest.raises(NotFound):
            await scene.repo.tree(revision)
        with pytest.raises(NotFound):
            await scene.repo.read(revision, "README.md")

    tell(story)


def test_a_push_never_overwrites_what_others_pushed(tell: Tell) -> None:
    async def story(scene: Scene) -> None:
        await begun(scene)
        await scene.repo.push()
        other = scene.other()
        other.write("theirs", b"theirs")
        theirs = await other.repo.commit(["theirs"], "Theirs")
        await other.repo.push()
        scene.write("ours", b"ours")
        ours = await scene.repo.commit(["ours"], "Ours")

        with pytest.raises(Conflict, match=r"repo\.behind"):
            await scene.repo.push()

        assert (await scene.repo.state()).commit == ours
        assert theirs is not None
        assert await scene.repo.fetch() == theirs
        assert await scene.repo.read(theirs, "theirs") == b"theirs"
        with pytest.raises(Conflict):
            await scene.repo.push()

    tell(story)


def test_a_commit_is_pushed_to_another_branch_for_a_pull_request(tell: Tell) -> None:
    async def story(scene: Scene) -> None:
        await begun(scene)
        await scene.repo.push()
        before = await scene.repo.fetch()
        scene.write("ours", b"ours")
        ours = await scene.repo.commit(["ours"], "Ours")

        assert await scene.repo.fetch("update") is None
        await scene.repo.push("update")

        assert await scene.repo.fetch("update") == ours
        assert await scene.repo.fetch() == before

    tell(story)


def test_nobody_commits_without_a_name(tell: Tell) -> None:
    async def story(scene: Scene) -> None:
        scene.forget_who()
        scene.write("a", b"a")
        with pytest.raises(Refused, match=r"repo\.identity"):
            await scene.repo.commit(["a"], "Anonymous")
        assert (await scene.repo.state()).commit is None

    tell(story)


def test_nothing_is_committed_or_pushed_without_a_branch(tell: Tell) -> None:
    async def story(scene: Scene) -> None:
        await begun(scene)
        scene.detach()
        scene.write("a", b"a")
        assert (await scene.repo.state()).branch is None
        with pytest.raises(Refused, match=r"repo\.detached"):
            await scene.repo.commit(["a"], "Lost")
        with pytest.raises(Refused, match=r"repo\.detached"):
            await scene.repo.push()

    tell(story)


def test_without_a_remote_there_is_nothing_to_push_to(tell: Tell) -> None:
    async def story(scene: Scene) -> None:
        await begun(scene)
        scene.lose_remote()
        with pytest.raises(NotFound, match=r"repo\.no-remote"):
            await scene.repo.push()
        with pytest.raises(NotFound, match=r"repo\.no-remote"):
            await scene.repo.fetch()

    tell(story)


def test_commits_tell_who_changed_a_file_and_what_others_pushed(tell: Tell) -> None:
    async def story(scene: Scene) -> None:
        first = await begun(scene)
        scene.write("other", b"one")
        second = await scene.repo.commit(["other"], "More\n\nand more")
        assert second is not None

        every = await scene.repo.commits("HEAD")
        newer = await scene.repo.commits(second, since=first)
        of_file = await scene.repo.commits("HEAD", path="README.md")

        assert [item.name for item in every] == [second, first]
        assert [(item.name, item.subject) for item in newer] == [(second, "More")]
        assert [item.name for item in of_file] == [first]
        assert of_file[0].author == "Shepherd <shepherd@example.com>"
        assert [commit.name for commit in await scene.repo.commits("HEAD", most=1)] == [second]
        assert await scene.repo.commits(second, since=second) == ()
        assert await scene.repo.commits("HEAD", path="never-there") == ()
        with pytest.raises(NotFound):
            await scene.repo.commits("0" * 40)

    tell(story)


def test_what_a_push_would_meet_is_told_without_asking_the_remote(tell: Tell) -> None:
    async def story(scene: Scene) -> None:
        push_target = await scene.repo.push_target()
        assert (push_target.below, push_target.has_identity) == ("", True)
        assert push_target.remote
        assert push_target.upstream == "origin main"
        scene.forget_who()
        scene.lose_remote()
        push_target = await scene.repo.push_target()
        assert (push_target.remote, push_target.upstream, push_target.has_identity) == (
            None,
            "",
            False,
        )

    tell(story)
