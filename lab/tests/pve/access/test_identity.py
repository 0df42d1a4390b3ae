"""Names of users and tokens."""

from __future__ import annotations

import pytest
from stockman_lab.pve.access.identity import Caller, caller_named, split_userid

from lab.tests.pve.access.house import ANN, ANN_TOKEN, ROOT, ROOT_TOKEN


@pytest.mark.parametrize("caller", [ANN, ANN_TOKEN, ROOT, ROOT_TOKEN, Caller("a@b@pve", "x.y-z")])
def test_a_name_leads_back_to_who_has_it(caller: Caller) -> None:
    assert caller_named(caller.authid) == caller


@pytest.mark.parametrize(
    "name",
    ["", "ann", "@pve", "ann@", "ann@p", "an n@pve", "a/b@pve", "a:b@pve", "x" * 61 + "@pve"],
)
def test_a_name_that_nobody_can_have(name: str) -> None:
    assert caller_named(name) is None


def test_the_realm_is_what_follows_the_last_at_sign() -> None:
    assert split_userid("ann@example.com@pve") == ("ann@example.com", "pve")


def test_only_root_without_a_token_is_root() -> None:
    assert ROOT.is_root
    assert not ROOT_TOKEN.is_root
    assert not Caller("root@pve").is_root
