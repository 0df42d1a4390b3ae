"""Realms."""

from __future__ import annotations

import pytest
from stockman_lab.pve.access.realms import RealmChange, realm_info, realm_rows, update_realm
from stockman_lab.pve.errors import ApiError

from lab.tests.pve.access.house import populated


def test_every_cluster_has_two_realms() -> None:
    assert realm_rows(populated()) == [
        {"realm": "pam", "type": "pam", "comment": "Linux PAM standard authentication"},
        {"realm": "pve", "type": "pve", "comment": "Proxmox VE authentication server"},
    ]


def test_the_settings_of_a_realm() -> None:
    state = populated()
    update_realm(state, "pve", RealmChange(comment="ours", default=True, tfa="type=oath,step=30"))

    info = realm_info(state, "pve")

    assert len(str(info.pop("digest"))) == 40
    assert info == {"type": "pve", "comment": "ours", "default": 1, "tfa": "type=oath,step=30"}
    assert realm_info(state, "pam")["plugin"] == "PVE::Auth::PAM"
    assert realm_rows(state)[1] == {
        "realm": "pve",
        "type": "pve",
        "comment": "ours",
        "default": 1,
        "tfa": "oath",
    }


def test_only_one_realm_is_the_default() -> None:
    state = populated()

    update_realm(state, "pve", RealmChange(default=True))
    update_realm(state, "pam", RealmChange(default=True))
    chosen = [row["realm"] for row in realm_rows(state) if "default" in row]
    update_realm(state, "pam", RealmChange(delete=["default"]))

    assert chosen == ["pam"]
    assert not any("default" in row for row in realm_rows(state))


def test_a_comment_that_is_taken_away_is_the_first_one_again() -> None:
    state = populated()
    update_realm(state, "pve", RealmChange(comment="ours", tfa="type=oath"))

    update_realm(state, "pve", RealmChange(delete=["comment", "tfa"]))

    assert realm_rows(state) == realm_rows(populated())


@pytest.mark.parametrize(
    ("name", "change", "why"),
    [
        ("ldap", RealmChange(comment="x"), "domain 'ldap' does not exist"),
        ("pve", RealmChange(), "no options specified"),
        ("pve", RealmChange(unexpected=["server1"]), "unexpected property 'server1'"),
        (
            "pve",
            RealmChange(unexpected=["check-connection"]),
            "'check-connection' parameter can only be set for realms of type 'ldap' or 'ad'",
        ),
        (
            "pve",
            RealmChange(comment="x", digest="0" * 40),
            "detected modified configuration - file changed by other user? Try again.",
        ),
    ],
)
def test_a_change_that_cannot_be_made(name: str, change: RealmChange, why: str) -> None:
    state = populated()

    with pytest.raises(ApiError) as caught:
        update_realm(state, name, change)

    assert caught.value.message == f"update auth server failed: {why}"
    assert realm_rows(state) == realm_rows(populated())


def test_the_digest_follows_the_settings() -> None:
    state = populated()
    digest = str(realm_info(state, "pve")["digest"])

    update_realm(state, "pve", RealmChange(comment="x", digest=digest))

    assert realm_info(state, "pve")["digest"] != digest


def test_reading_a_realm_that_is_not_there() -> None:
    with pytest.raises(ApiError, match=r"^domain 'ldap' does not exist$"):
        realm_info(populated(), "ldap")
