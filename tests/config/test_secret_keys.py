"""The keys that SOPS is told of."""

from __future__ import annotations

import re

from stockman.config.reference.keys import keys_by_path
from stockman.config.secret_keys import SECRET_KEYS, secret_key_regex


def test_the_list_is_what_the_language_says() -> None:
    derived = {key.name for key in keys_by_path().values() if key.secret}

    assert tuple(sorted(derived)) == SECRET_KEYS


def test_the_expression_matches_whole_words_only() -> None:
    matches = re.compile(secret_key_regex()).search
    assert matches("token_secret")
    assert not matches("token_id")
    assert not matches("my_token_secret")
