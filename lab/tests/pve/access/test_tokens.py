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
