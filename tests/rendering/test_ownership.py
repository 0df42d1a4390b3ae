"""Whose a file is."""

from __future__ import annotations

from stockman.rendering.managed_files import (
    DesiredFile,
    FileAction,
    FileDecisions,
    ManagedFile,
    digest,
    next_managed_files,
    plan_file_changes,
)

PATH = "kubernetes/apps/default/echo/app/helmrelease.yaml"


def act(
    desired: bytes | None,
    disk: bytes | None,
    rendered: bytes | None,
    *,
    accepted: bytes = b"",
    **decisions: object,
) -> FileAction:
    owned = {}
    if rendered is not None:
        owned[PATH] = ManagedFile(
            digest=digest(rendered),
            component="echo",
            accepted=digest(accepted) if accepted else "",
        )
    (action,) = plan_file_changes(
        [DesiredFile(path=PATH, component="echo", content=desired)] if desired is not None else [],
        {PATH: disk} if disk is not None else {},
        owned,
        FileDecisions(**decisions),  # type: ignore[arg-type]  # the test names fields of Wishes
    )
    return action.act


def test_a_missing_file_is_created() -> None:
    assert act(b"new", None, None) is FileAction.CREATE
    assert act(b"new", None, b"old") is FileAction.CREATE


def test_an_equal_file_is_kept_whoever_wrote_it() -> None:
    assert act(b"same", b"same", None) is FileAction.KEEP
    assert act(b"same", b"same", b"other") is FileAction.KEEP


def test_a_file_as_we_rendered_it_is_updated() -> None:
    assert act(b"new", b"old", b"old") is FileAction.UPDATE


def test_a_file_edited_by_hand_is_kept_and_reported() -> None:
    assert act(b"new", b"edited", b"old") is FileAction.EDITED


def test_an_edited_file_is_overwritten_only_when_named() -> None:
    assert act(b"new", b"edited", b"old", overwrite=frozenset({PATH})) is FileAction.UPDATE
    assert act(b"new", b"edited", b"old", overwrite=frozenset({"other"})) is FileAction.EDITED


def test_an_accepted_edit_stays_quiet_until_the_rendering_changes() -> None:
    assert act(b"new", b"edited", b"old", accept=frozenset({PATH})) is FileAction.ACCEPT
    assert act(b"new", b"edited", b"new", accepted=b"edited") is FileAction.ACCEPTED
    assert act(b"newer", b"edited", b"new", accepted=b"edited") is FileAction.EDITED


def test_a_foreign_file_in_the_way_is_not_touched_until_somebody_decides() -> None:
    assert act(b"new", b"theirs", None) is FileAction.FOREIGN
    assert act(b"new", b"theirs", None, accept=frozenset({PATH})) is FileAction.ACCEPT
    assert act(b"new", b"theirs", b"new", accepted=b"theirs") is FileAction.ACCEPTED
    assert act(b"new", b"theirs", None, overwrite=frozenset({PATH})) is FileAction.UPDATE


def test_a_file_no_longer_rendered_is_removed_only_when_pruning() -> None:
    assert act(None, b"old", b"old") is FileAction.STALE
    assert act(None, b"old", b"old", prune=True) is FileAction.REMOVE


def test_pruning_keeps_what_was_edited_by_hand() -> None:
    assert act(None, b"edited", b"old", prune=True) is FileAction.EDITED
    assert (
        act(None, b"edited", b"old", prune=True, overwrite=frozenset({PATH})) is FileAction.REMOVE
    )


def test_files_that_nobody_rendered_do_not_show() -> None:
    assert plan_file_changes([], {"mine.txt": b"text"}, {}, FileDecisions()) == ()


def test_the_lock_remembers_what_was_rendered_and_what_was_accepted() -> None:
    owned = {PATH: ManagedFile(digest=digest(b"old"), component="echo")}
    desired = [DesiredFile(path=PATH, component="echo", content=b"new")]
    done = plan_file_changes(
        desired, {PATH: b"edited"}, owned, FileDecisions(accept=frozenset({PATH}))
    )
    after = next_managed_files(done, owned)
    assert after[PATH] == ManagedFile(
        digest=digest(b"new"), component="echo", accepted=digest(b"edited")
    )
    assert (
        plan_file_changes(desired, {PATH: b"edited"}, after, FileDecisions())[0].act
        is FileAction.ACCEPTED
    )


def test_the_lock_does_not_remember_what_failed_to_be_written() -> None:
    done = plan_file_changes(
        [DesiredFile(path=PATH, component="echo", content=b"new")], {}, {}, FileDecisions()
    )
    assert next_managed_files(done, {}, failed={PATH}) == {}
    assert next_managed_files(done, {})[PATH].digest == digest(b"new")


def test_an_edited_file_that_is_no_longer_rendered_can_be_taken_over() -> None:
    assert act(None, b"edited", b"old", prune=True, accept=frozenset({PATH})) is FileAction.ACCEPT
    owned = {PATH: ManagedFile(digest=digest(b"old"), component="echo")}
    taken = plan_file_changes([], {PATH: b"edited"}, owned, FileDecisions(accept=frozenset({PATH})))

    assert next_managed_files(taken, owned) == {}


def test_the_lock_forgets_what_was_removed() -> None:
    owned = {PATH: ManagedFile(digest=digest(b"old"), component="echo")}
    done = plan_file_changes([], {PATH: b"old"}, owned, FileDecisions(prune=True))
    assert next_managed_files(done, owned) == {}
