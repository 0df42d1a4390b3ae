"""Users, groups, roles, pools and privileges."""

from __future__ import annotations

import pytest

from lab.tests.pve.schema.named.judging import problem


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("pve-userid", "herder@pve"),
        ("pve-tokenid-list", "herder@pve!lab,root@pam!x1"),
        ("pve-realm", "pam"),
        ("pve-groupid", "shepherds"),
        ("pve-roleid", "PVE.Admin_1"),
        ("pve-poolid", "a/b/c"),
        ("pve-priv-list", "VM.Audit,Sys.Audit"),
    ],
)
def test_these_are_fit(form: str, text: str) -> None:
    assert problem(form, text) is None


@pytest.mark.parametrize(
    ("form", "text", "said"),
    [
        ("pve-userid", "a", "user name 'a' is too short"),
        ("pve-userid", "a" * 70, f"user name '{'a' * 70}' is too long (70 > 64)"),
        ("pve-userid", "herder", "value 'herder' does not look like a valid user name"),
        ("pve-tokenid", "herder@pve", "value 'herder@pve' does not look like a valid token ID"),
        ("pve-realm", "1", "value does not look like a valid realm"),
        ("pve-groupid", "a b", "group name 'a b' contains invalid characters"),
        ("pve-roleid", "a/b", "role name 'a/b' contains invalid characters"),
        ("pve-poolid", "a/b/c/d", "pool name 'a/b/c/d' nested too deeply (max levels = 3)"),
        ("pve-poolid", "a b", "pool name 'a b' contains invalid characters"),
        ("pve-priv", "VM.Fly", "invalid privilege 'VM.Fly'"),
    ],
)
def test_these_are_refused(form: str, text: str, said: str) -> None:
    assert problem(form, text) == said


def test_privileges_depend_on_the_version() -> None:
    assert problem("pve-priv", "VM.Monitor", "8.4") is None
    assert problem("pve-priv", "VM.Monitor") == "invalid privilege 'VM.Monitor'"
    assert problem("pve-priv", "VM.GuestAgent.Audit") is None
    assert problem("pve-priv", "VM.GuestAgent.Audit", "8.4") == (
        "invalid privilege 'VM.GuestAgent.Audit'"
    )
