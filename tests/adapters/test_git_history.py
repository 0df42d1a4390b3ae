"""Reading what git keeps, on real repositories."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from stockman.adapters.git.probe import LocalGitHistory
from stockman.ports.environment import NoAnswer
from stockman.ports.git_history import StoredObject, TrackedFile
from tests.adapters.repositories import committed, git, repository

ALL = 1_000_000


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return repository(tmp_path / "tree")


@pytest.fixture
def history(tree: Path) -> Iterator[LocalGitHistory]:
    local_git_history = LocalGitHistory(tree)
    yield local_git_history
    local_git_history.close()


def files(stored_objects: Iterator[StoredObject]) -> list[tuple[str, str]]:
    return [(one.path, one.commit) for one in stored_objects if one.kind == "blob"]


def test_the_index_tells_files_links_and_repositories(tree: Path, history: LocalGitHistory) -> None:
    (tree / "link").symlink_to("a.txt")
    commit = committed(tree, a__txt="one\n")
    git(tree, "update-index", "--add", "--cacheinfo", f"160000,{commit},below")

    tracked_files = history.tracked_files()

    assert [(tracked_file.path, tracked_file.kind) for tracked_file in tracked_files] == [
        ("a.txt", "file"),
        ("below", "repository"),
        ("link", "link"),
    ]
    assert tracked_files[0] == TrackedFile("a.txt", git(tree, "hash-object", "a.txt"), "file")


def test_files_that_git_add_would_take_are_listed_and_ignored_ones_are_not(
    tree: Path, history: LocalGitHistory
) -> None:
    committed(tree, __gitignore="*.log\n")
    (tree / "below").mkdir()
    for name in ("below/new.txt", "x.log", "with\nbreak"):
        (tree / name).write_text("x")
    repository(tree / "other")

    assert sorted(history.untracked_files()) == ["below/new.txt", "other/", "with\nbreak"]


def test_all_of_the_repository_is_seen_from_a_directory_inside(tree: Path) -> None:
    committed(tree, a__txt="one\n")
    (tree / "below").mkdir()
    (tree / "new.txt").write_text("x")
    history = LocalGitHistory(tree / "below")

    assert history.top() == tree
    assert [tracked_file.path for tracked_file in history.tracked_files()] == ["a.txt"]
    assert history.untracked_files() == ("new.txt",)


def test_an_object_comes_with_the_first_commit_that_has_it(
    tree: Path, history: LocalGitHistory
) -> None:
    first = committed(tree, a__txt="one\n", b__txt="same\n")
    second = committed(tree, a__txt="two\n")
    third = committed(tree, a__txt="one\n")

    assert history.commit_count() == 3
    assert files(history.objects(ALL)) == [
        ("a.txt", first),
        ("b.txt", first),
        ("a.txt", second),
    ]
    commits = [by_name.commit for by_name in history.objects(ALL) if by_name.kind == "commit"]
    assert commits == [first, second, third]


def test_the_newest_commits_have_all_their_files(tree: Path, history: LocalGitHistory) -> None:
    committed(tree, a__txt="one\n", b__txt="same\n")
    second = committed(tree, a__txt="two\n")

    assert files(history.objects(1)) == [("a.txt", second), ("b.txt", second)]


def test_branches_that_are_not_checked_out_and_tags_belong_to_history(
    tree: Path, history: LocalGitHistory
) -> None:
    committed(tree, a__txt="one\n")
    git(tree, "checkout", "-b", "other")
    other = committed(tree, c__txt="there\n")
    git(tree, "tag", "--annotate", "--message=told", "v1")
    git(tree, "checkout", "main")

    objects = list(history.objects(ALL))

    assert ("c.txt", other) in files(iter(objects))
    assert [one.kind for one in objects].count("tag") == 1


def test_contents_are_the_bytes_of_more_objects_than_fit_into_a_pipe(
    tree: Path, history: LocalGitHistory
) -> None:
    texts = {f"f{number}": f"{number}\0\n" * 500 for number in range(700)}
    committed(tree, **texts)
    names = {tracked_file.path: tracked_file.object for tracked_file in history.tracked_files()}

    contents = history.contents([names[path] for path in texts])

    assert list(contents) == [text.encode() for text in texts.values()]


def test_an_object_that_is_missing_is_none(tree: Path, history: LocalGitHistory) -> None:
    committed(tree, a__txt="one\n", b__txt="two\n")
    names = [tracked_file.object for tracked_file in history.tracked_files()]
    (tree / ".git" / "objects" / names[0][:2] / names[0][2:]).unlink()

    assert list(history.contents(names)) == [None, b"two\n"]
    assert list(history.sizes(names)) == [None, 4]
    kinds = {by_name.name: by_name.kind for by_name in history.objects(ALL)}
    assert [kinds[name] for name in names] == ["missing", "blob"]


def test_commits_cannot_be_counted_when_one_is_missing(
    tree: Path, history: LocalGitHistory
) -> None:
    commit = committed(tree, a__txt="one\n")
    (tree / ".git" / "objects" / commit[:2] / commit[2:]).unlink()

    with pytest.raises(NoAnswer, match="git reports: "):
        history.commit_count()


def test_a_missing_commit_is_an_error_or_a_missing_object(
    tree: Path, history: LocalGitHistory
) -> None:
    commit = committed(tree, a__txt="one\n")
    (tree / ".git" / "objects" / commit[:2] / commit[2:]).unlink()

    objects = [(commit, "missing")]
    with suppress(NoAnswer):  # git before 2.45
        objects = [(item.name, item.kind) for item in history.objects(ALL)]

    assert objects == [(commit, "missing")]


def test_a_repository_without_commits_has_no_objects(history: LocalGitHistory) -> None:
    assert history.commit_count() == 0
    assert list(history.objects(ALL)) == []
    assert history.tracked_files() == ()


def test_a_shallow_clone_says_so(tree: Path, tmp_path: Path) -> None:
    committed(tree, a__txt="one\n")
    committed(tree, a__txt="two\n")
    git(tmp_path, "clone", "--depth=1", tree.as_uri(), "copy")

    assert LocalGitHistory(tmp_path / "copy").is_shallow()
    assert not LocalGitHistory(tree).is_shallow()


def test_outside_of_a_repository_there_is_no_top(tmp_path: Path) -> None:
    assert LocalGitHistory(tmp_path).top() is None


@pytest.mark.usefixtures("closed_directory_on_path")
def test_without_git_there_is_no_answer(tree: Path) -> None:
    with pytest.raises(NoAnswer, match=r"^git is not installed$"):
        LocalGitHistory(tree, program="no-such-git").top()
