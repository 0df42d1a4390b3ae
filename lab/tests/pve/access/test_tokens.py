"""API tokens: made, changed, deleted and shown."""

from __future__ import annotations

import pytest
from stockman_lab.pve.access.identity import Caller
from stockman_lab.pve.access.privileges import Profile
from stockman_lab.pve.access.tokens import (
    TokenChange,
    create_token,
    delete_token,
    token_rows,
    update_token,
)
from stockman_lab.pve.errors import ApiError

from lab.tests.pve.access.house import ANN_TOKEN, authority, dice, populated

NEW = Caller("bob@pve", "ci-1")


def text(caught: pytest.ExceptionInfo[ApiError]) -> str:
    return f"{caught.value.status} {caught.value.message}"


def test_a_new_token_tells_its_secret_once() -> None:
    state = populated()

    reply = create_token(state, NEW, TokenChange(), dice(5))

    assert reply == {
        "full-tokenid": "bob@pve!ci-1",
        "info": {"privsep": 1},
        "value": "00000000-0000-4000-8000-000000000005",
    }
    assert token_rows(state, "bob@pve") == [{"tokenid": "ci-1", "expire": 0, "privsep": 1}]


def test_a_reply_repeats_what_was_sent_as_text() -> None:
    state = populated()

    reply = create_token(
        state, NEW, TokenChange(privsep=False, expire=9, comment="for CI"), dice(5)
    )

    assert reply["info"] == {"privsep": "0", "expire": "9", "comment": "for CI"}
    assert token_rows(state, "bob@pve") == [
        {"tokenid": "ci-1", "expire": 9, "privsep": 0, "comment": "for CI"}
    ]


def test_two_tokens_have_two_secrets() -> None:
    state = populated()
    random_bytes = dice(5)

    first = create_token(state, NEW, TokenChange(), random_bytes)
    second = create_token(state, Caller("bob@pve", "ci-2"), TokenChange(), random_bytes)

    assert first["value"] != second["value"]


def test_a_token_that_is_already_there() -> None:
    with pytest.raises(ApiError) as caught:
        create_token(populated(), ANN_TOKEN, TokenChange(), dice())

    assert text(caught) == "400 Parameter verification failed."
    assert caught.value.errors == {"tokenid": "Token already exists."}


def test_a_token_of_a_user_who_is_not_there() -> None:
    state = populated()
    token = Caller("eve@pve", "ci-1")

    with pytest.raises(ApiError) as created:
        create_token(state, token, TokenChange(), dice())
    with pytest.raises(ApiError) as updated:
        update_token(state, token, TokenChange())
    with pytest.raises(ApiError) as listed:
        token_rows(state, "eve@pve")

    assert text(created) == text(updated) == text(listed) == "500 no such user ('eve@pve')"


def test_a_token_that_is_not_there() -> None:
    state = populated()

    with pytest.raises(ApiError) as updated:
        update_token(state, NEW, TokenChange())
    with pytest.raises(ApiError) as deleted:
        delete_token(state, NEW)

    expected = "500 no such token 'ci-1' for user 'bob@pve'"
    assert text(updated) == text(deleted) == expected


def test_an_update_shows_the_result() -> None:
    state = populated()

    assert update_token(state, ANN_TOKEN, TokenChange(comment="mine")) == {
        "expire": 0,
        "privsep": 1,
        "comment": "mine",
    }
    assert update_token(state, ANN_TOKEN, TokenChange(privsep=False)) == {
        "expire": 0,
        "privsep": "0",
        "comment": "mine",
    }


@pytest.mark.parametrize("change", [TokenChange(comment=""), TokenChange(delete=["comment"])])
def test_a_comment_can_be_taken_away(change: TokenChange) -> None:
    state = populated()
    update_token(state, ANN_TOKEN, TokenChange(comment="mine"))

    assert update_token(state, ANN_TOKEN, change) == {"expire": 0, "privsep": 1}
    assert state.users["ann@pve"].tokens["narrow"].comment == ""


def test_on_8_4_an_empty_comment_leaves_the_old_one() -> None:
    state = populated(Profile.PVE_8_4)
    update_token(state, ANN_TOKEN, TokenChange(comment="mine"))

    assert update_token(state, ANN_TOKEN, TokenChange(comment=""))["comment"] == "mine"


def test_only_the_comment_can_be_taken_away() -> None:
    with pytest.raises(ApiError) as caught:
        update_token(populated(), ANN_TOKEN, TokenChange(delete=["expire"]))

    assert text(caught) == (
        "500 updating token info failed: 400 Parameter verification failed.\n"
        "delete: unknown option 'expire'"
    )


def test_a_deleted_token_takes_its_entries_along() -> None:
    found = authority("/vms ann@pve Look", "/vms ann@pve!narrow Look")

    delete_token(found.state, ANN_TOKEN)

    assert "narrow" not in found.state.users["ann@pve"].tokens
    assert found.state.acl["/vms"].tokens == {}
    assert found.permissions(ANN_TOKEN, "/vms") == {}
