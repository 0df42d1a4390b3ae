"""Passwords as they are kept."""

from __future__ import annotations

import pytest
from stockman_lab.pve.cloudinit.password import kept_password, salt, sha256_crypt


@pytest.mark.parametrize(
    ("password", "seed", "hashed"),
    [
        (
            "Hello world!",
            "saltstring",
            "$5$saltstring$" + "5B8vYYiY.CVt1Rl" + "TTf8KbXBH3hsxY/" + "GNooZaBBGWEc5",
        ),
        ("", "ab", "$5$ab$" + "qRq/oZkUn9lJUSI" + "cgVT3NbpSDsjn.r" + "137TBSoCt2kCA"),
        (
            "p" * 70,
            "12345678",
            "$5$12345678$" + "Twt5Xd4Fq4V6WAR" + "wO4FaVMIrWSYDvr" + "Yl..x1dpfA0s/",
        ),
        ("ü", "q", "$5$q$" + "LreN/PIbW4alnYI" + "cS.CG6U8DQfuTJP" + "GbLawyeew1hP8"),
    ],
)
def test_known_passwords_have_known_hashes(password: str, seed: str, hashed: str) -> None:
    assert sha256_crypt(password, seed) == hashed


@pytest.mark.parametrize("given", ["$5$salt$hash", "$6$rounds=5000$a$b", "$2y$10$abc", "$1$a$b"])
def test_what_is_hashed_already_is_kept(given: str) -> None:
    assert kept_password(given, "seed") == given


@pytest.mark.parametrize("given", ["secret", "$", "$9$a$b", "$5$onlysalt", ""])
def test_what_is_not_is_hashed(given: str) -> None:
    assert kept_password(given, "seed").startswith("$5$seed$")


def test_salt_is_eight_letters_that_crypt_likes() -> None:
    salts = {salt(bytes((number,))) for number in range(256)}

    assert {len(one) for one in salts} == {8}
    assert not any("+" in one for one in salts)
