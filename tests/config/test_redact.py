"""Lines of files are shown without the secrets in them."""

from __future__ import annotations

import pytest

from stockman.config.redact import build_redactor
from stockman.model.secret import Secret


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("proxmox_token_secret: abc-def", "proxmox_token_secret: ***"),
        ('token_secret = "abc def"', "token_secret = ***"),
        ("{password: hunter2, user: me}", "{password: ***, user: me}"),
        ("cloudflare_token: ${CLOUDFLARE_TOKEN}", "cloudflare_token: ${CLOUDFLARE_TOKEN}"),
        ("proxmox_token_id: stockman@pve!x", "proxmox_token_id: stockman@pve!x"),
        ("backup_s3_access_key: AK", "backup_s3_access_key: ***"),
        ("proxmox_tokensecret: misspelled", "proxmox_tokensecret: ***"),
        ("secureboot: true", "secureboot: true"),
        ("address: 127.66.0.21", "address: 127.66.0.21"),
    ],
)
def test_values_of_keys_that_sound_secret_are_masked(line: str, shown: str) -> None:
    assert build_redactor(())(line) == shown


def test_known_secrets_are_masked_wherever_they_stand() -> None:
    redact = build_redactor(
        [Secret("hunter2-canary"), Secret("${REFERENCE}"), Secret("one\ntwo-lines")]
    )

    assert redact("note: the word is hunter2-canary") == "note: the word is ***"
    assert redact("note: ${REFERENCE}") == "note: ${REFERENCE}"
    assert redact("    two-lines") == "    ***"
