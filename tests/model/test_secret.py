"""Secrets never show themselves."""

from __future__ import annotations

import copy
import json
import pickle
import traceback

import pytest

from stockman.model.record import record, to_plain_value
from stockman.model.secret import Secret, SecretForm, secret_form

CANARY = "canary-7f3a"


@record
class Door:
    key: Secret


def test_no_text_form_shows_the_value() -> None:
    secret = Secret(CANARY)
    door = Door(key=secret)

    shown = [
        repr(secret),
        str(secret),
        f"{secret}",
        f"{secret:>12}",
        f"{secret!r}",
        repr(door),
        str({"a": [secret]}),
        json.dumps(to_plain_value(door)),
    ]

    assert all("***" in text and CANARY not in text for text in shown)


def test_a_secret_in_an_exception_stays_hidden() -> None:
    try:
        raise ValueError("bad", Secret(CANARY))
    except ValueError:
        assert CANARY not in traceback.format_exc()


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickling_is_refused(protocol: int) -> None:
    with pytest.raises(TypeError, match="pickled"):
        pickle.dumps(Secret(CANARY), protocol)


def test_copying_through_pickling_is_refused() -> None:
    with pytest.raises(TypeError, match="pickled"):
        copy.deepcopy(Secret(CANARY))


def test_json_does_not_know_secrets() -> None:
    with pytest.raises(TypeError):
        json.dumps(Secret(CANARY))


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("${TOKEN}", SecretForm.ENVIRONMENT),
        ("file:age.key", SecretForm.FILE),
        ("sops:secrets.sops.yaml#token", SecretForm.SOPS),
        ("ENC[AES256_GCM,data:QQ==,iv:QQ==,tag:QQ==,type:str]", SecretForm.ENCRYPTED),
        ("hunter2", SecretForm.LITERAL),
        ("$TOKEN", SecretForm.LITERAL),
        ("${TOKEN}x", SecretForm.LITERAL),
        ("file:", SecretForm.LITERAL),
        ("sops:secrets.yaml", SecretForm.LITERAL),
    ],
)
def test_the_form_tells_references_from_values(text: str, form: SecretForm) -> None:
    assert secret_form(text) is form


def test_references_may_be_shown_and_values_may_not() -> None:
    assert Secret("${TOKEN}").reference == "${TOKEN}"
    assert Secret("hunter2").reference == "***"
    assert Secret("ENC[AES256_GCM,data:QQ==]").reference == "ENC[...]"


def test_secrets_compare_by_what_they_hold() -> None:
    assert Secret("a") == Secret("a")
    assert Secret("a") != Secret("b")
    assert len({Secret("a"), Secret("a")}) == 1
