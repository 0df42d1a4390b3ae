"""Tokens as text: a secret alone, or with the token that it belongs to."""

import pytest

from stockman.model.proxmox_values import join_token, split_token
from stockman.model.secret import Secret

UUID = "5f0a9c1e-0000-4000-8000-00000000002a"


def test_a_secret_alone_belongs_to_the_token_that_the_files_name() -> None:
    found, secret = split_token("csi@pve!csi", Secret(UUID))

    assert (found, secret.reveal()) == ("csi@pve!csi", UUID)


def test_a_whole_token_names_itself() -> None:
    found, secret = split_token("csi@pve!csi", join_token("csi@pve!csi-2", Secret(UUID)))

    assert (found, secret.reveal()) == ("csi@pve!csi-2", UUID)


@pytest.mark.parametrize("text", ["", "a=b", "csi@pve=secret", "csi!x=secret", UUID])
def test_what_only_looks_like_one_is_a_secret(text: str) -> None:
    found, secret = split_token("csi@pve!csi", Secret(text))

    assert (found, secret.reveal()) == ("csi@pve!csi", text)
