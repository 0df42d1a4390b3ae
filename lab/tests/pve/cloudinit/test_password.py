"""Passwords as they are kept."""

from __future__ import annotations

import pytest
from stockman_lab.pve.cloudinit.password import sha256_crypt


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
