"""Whose a file is."""

from __future__ import annotations

from stockman.rendering.ownership import Act, Owned, Wanted, Wishes, actions, digest, owned_after

PATH = "kubernetes/apps/default/echo/app/helmrelease.yaml"


def act(
    wanted: bytes | None,
    disk: bytes | None,
    rendered: bytes | None,
    *,
    accepted: bytes = b"",
    **wishes: object,
) -> Act:
    owned = {}
    if rendered is not None:
        owned[PATH] = Owned(
            digest=digest(rendered),
            component="echo",
            accepted=digest(accepted) if accepted else "",
        )
    (action,) = actions(
        [Wanted(path=PATH, component="echo", content=wanted)] if wanted is not None else [],
        {PATH: disk} if disk is not None else {},
        owned,
        Wishes(**wishes),  # type: ignore[arg-type]  # the test names fields of Wishes
    )
    return action.act


def test_a_missing_file_is_created() -> None:
    assert act(b"new", None, None) is Act.CREATE
    assert act(b"new", None, b"old") is Act.CREATE


def test_an_equal_file_is_kept_whoever_wrote_it() -> None:
    assert act(b"same", b"same", None) is Act.KEEP
    assert act(b"same", b"same", b"other") is Act.KEEP


def test_a_file_as_we_rendered_it_is_updated() -> None:
    assert act(b"new", b"old", b"old") is Act.UPDATE


def test_a_file_edited_by_hand_is_kept_and_reported() -> None:
    assert act(b"new", b"edited", b"old") is Act.EDITED


def test_an_edited_file_is_overwritten_only_when_named() -> None:
    assert act(b"new", b"edited", b"old", overwrite=frozenset({PATH})) is Act.UPDATE
    assert act(b"new", b"edited", b"old", overwrite=frozenset({"other"})) is Act.EDITED


def test_an_accepted_edit_stays_quiet_until_the_rendering_changes() -> None:
    assert act(b"new", b"edited", b"old", accept=frozenset({PATH})) is Act.ACCEPT
    assert act(b"new", b"edited", b"new", accepted=b"edited") is Act.ACCEPTED
    assert act(b"newer", b"edited", b"new", accepted=b"edited") is Act.EDITED


def test_a_foreign_file_in_the_way_is_not_touched_until_somebody_decides() -> None:
    assert act(b"new", b"theirs", None) is Act.FOREIGN
    assert act(b"new", b"theirs", None, accept=frozenset({PATH})) is Act.ACCEPT
    assert act(b"new", b"theirs", b"new", accepted=b"theirs") is Act.ACCEPTED
    assert act(b"new", b"theirs", None, overwrite=frozenset({PATH})) is Act.UPDATE


def test_a_file_no_longer_rendered_is_removed_only_when_pruning() -> None:
    assert act(None, b"old", b"old") is Act.STALE
    assert act(None, b"old", b"old", prune=True) is Act.REMOVE


def test_pruning_keeps_what_was_edited_by_hand() -> None:
    assert act(None, b"edited", b"old", prune=True) is Act.EDITED
    assert act(None, b"edited", b"old", prune=True, overwrite=frozenset({PATH})) is Act.REMOVE


def test_files_that_nobody_rendered_do_not_show() -> None:
    assert actions([], {"mine.txt": b"text"}, {}, Wishes()) == ()


def test_the_lock_remembers_what_was_rendered_and_what_was_accepted() -> None:
    owned = {PATH: Owned(digest=digest(b"old"), component="echo")}
    wanted = [Wanted(path=PATH, component="echo", content=b"new")]
    done = actions(wanted, {PATH: b"edited"}, owned, Wishes(accept=frozenset({PATH})))
    after = owned_after(done, owned)
    assert after[PATH] == Owned(digest=digest(b"new"), component="echo", accepted=digest(b"edited"))
    assert actions(wanted, {PATH: b"edited"}, after, Wishes())[0].act is Act.ACCEPTED


def test_the_lock_does_not_remember_what_failed_to_be_written() -> None:
    done = actions([Wanted(path=PATH, component="echo", content=b"new")], {}, {}, Wishes())
    assert owned_after(done, {}, failed={PATH}) == {}
    assert owned_after(done, {})[PATH].digest == digest(b"new")


def test_an_edited_file_that_is_no_longer_rendered_can_be_taken_over() -> None:
    assert act(None, b"edited", b"old", prune=True, accept=frozenset({PATH})) is Act.ACCEPT
    owned = {PATH: Owned(digest=digest(b"old"), component="echo")}
    taken = actions([], {PATH: b"edited"}, owned, Wishes(accept=frozenset({PATH})))

    assert owned_after(taken, owned) == {}


def test_the_lock_forgets_what_was_removed() -> None:
    owned = {PATH: Owned(digest=digest(b"old"), component="echo")}
    done = actions([], {PATH: b"old"}, owned, Wishes(prune=True))
    assert owned_after(done, owned) == {}
