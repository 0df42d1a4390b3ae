"""Secrets are found in every form in which they slip into files."""

import base64
import json
import textwrap
from collections.abc import Callable
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as some

from stockman.app.secrets_check.scanner import Hit, KnownSecret, Scanner, build_needles
from stockman.crypto.age.identities import AgeIdentity
from stockman.crypto.private_keys import (
    Algorithm,
    generate_key,
    key_pem,
    read_key,
    standard_key_pem,
)
from stockman.model.secret import Secret
from tests.crypto.keys_at_hand import OWNER
from tests.talos.made import bundle

TOKEN = "q7Zr2x.Vw9LmT4cYbK1pQ8s"  # not-a-secret: made up
SHORT = 'p4"s\\word é'
KEYS = {
    "Ed25519": bundle().certs.os.key,
    "ECDSA": bundle().certs.k8s.key,
    "RSA": key_pem(generate_key(Algorithm.RSA)),
}


def scanner(*values: Secret | str) -> Scanner:
    secrets = [value if isinstance(value, Secret) else Secret(value) for value in values]
    return Scanner(
        build_needles(
            KnownSecret(name=f"secret {number}", value=secret)
            for number, secret in enumerate(secrets)
        )
    )


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


TEXT_FORMS: dict[str, Callable[[str], str]] = {
    "as it is": lambda text: f"token: {text}\n",
    "JSON": lambda text: json.dumps({"token": text}),
    "JSON in UTF-8": lambda text: json.dumps({"token": text}, ensure_ascii=False),
    "YAML in quotes": lambda text: "token: '" + text.replace("'", "''") + "'",
    "base64": lambda text: f"token: {encoded(text)}",
    "base64 of a file": lambda text: encoded(f"a: b\ntoken: {text}\nc: d\n"),
    "base64 of JSON": lambda text: encoded(json.dumps({"a": text}, ensure_ascii=False)),
    "an address": lambda text: f"https://user:{quote(text, safe='')}@127.0.0.1/",
}


@pytest.mark.parametrize("form", [name for name in TEXT_FORMS if name != "base64 of JSON"])
def test_a_password_with_odd_characters_is_found(form: str) -> None:
    content = "first\n" + TEXT_FORMS[form](SHORT)

    assert scanner(SHORT).hits(content.encode()) == (Hit("secret 0", 2, known=True),)


@given(
    text=some.text("ABCDEFGHabcdefgh01234567+/=.-_", min_size=12, max_size=80),
    before=some.binary(max_size=5),
    form=some.sampled_from(sorted(TEXT_FORMS)),
)
def test_whatever_a_token_is_it_is_found_wherever_it_begins(
    text: str, before: bytes, form: str
) -> None:
    assert scanner(text).hits(before + TEXT_FORMS[form](text).encode())


KEY_FORMS: dict[str, Callable[[Secret], str]] = {
    "PEM": lambda key: key.reveal(),
    "PEM of Windows": lambda key: key.reveal().replace("\n", "\r\n"),
    "PEM indented": lambda key: textwrap.indent(key.reveal(), "      "),
    "PEM in JSON": lambda key: json.dumps({"key": key.reveal()}),
    "in short lines": lambda key: "\n".join(textwrap.wrap(body(key), 20)),
    "in one line": lambda key: f"key: {body(key)}",
    "PKCS#8": lambda key: standard_key_pem(read_key(key)).reveal(),
    "base64 of PEM": lambda key: f"key: {encoded(key.reveal())}",
    "base64 of PEM in lines": lambda key: "\n".join(textwrap.wrap(encoded(key.reveal()), 76)),
    "base64 of a file": lambda key: encoded(f"key: |\n{key.reveal()}"),
}


def body(key: Secret) -> str:
    return "".join(key.reveal().splitlines()[1:-1])


@pytest.mark.parametrize("form", KEY_FORMS)
@pytest.mark.parametrize("kind", KEYS)
def test_a_private_key_is_found(kind: str, form: str) -> None:
    content = f"first line\n{KEY_FORMS[form](KEYS[kind])}"

    hits = scanner(KEYS[kind]).hits(content.encode())

    assert [hit.name for hit in hits if hit.known] == ["secret 0"]
    assert all(hit.line > 1 for hit in hits)


def test_a_key_in_der_is_found() -> None:
    der = base64.b64decode(body(KEYS["ECDSA"]))

    assert scanner(KEYS["ECDSA"]).hits(b"\x00\x01" + der)


def test_the_certificate_of_a_key_is_not_taken_for_it() -> None:
    certs = bundle().certs
    pairs = (certs.os, certs.k8s, certs.etcd, certs.k8saggregator)
    keys = scanner(*(pair.key for pair in pairs))

    assert keys.hits("".join(pair.crt for pair in pairs).encode()) == ()
    assert keys.hits("".join(encoded(pair.crt) for pair in pairs).encode()) == ()


def test_each_secret_is_told_once_at_its_first_line() -> None:
    content = f"\n{TOKEN}\n{TOKEN}\n\n{SHORT}\n"

    assert scanner(TOKEN, SHORT).hits(content.encode()) == (
        Hit("secret 0", 2, known=True),
        Hit("secret 1", 5, known=True),
    )


def test_many_secrets_are_told_apart() -> None:
    values = [AgeIdentity(bytes([number]) * 32, post_quantum=False).text for number in range(50)]
    content = "\n".join(value.reveal() for value in values)

    hits = scanner(*values).hits(content.encode())

    assert [(hit.name, hit.line) for hit in hits] == [
        (f"secret {number}", number + 1) for number in range(50)
    ]


def test_what_is_known_is_not_told_again_as_something_that_looks_so() -> None:
    content = f"# my keys\n{OWNER.text.reveal()}\n{KEYS['ECDSA'].reveal()}"

    hits = scanner(OWNER.text, KEYS["ECDSA"]).hits(content.encode())

    assert [hit.known for hit in hits] == [True, True]


def test_a_key_that_is_not_known_is_told_beside_one_that_is() -> None:
    content = f"{KEYS['ECDSA'].reveal()}{KEYS['RSA'].reveal()}"

    hits = scanner(KEYS["ECDSA"]).hits(content.encode())

    assert [(hit.name, hit.known) for hit in hits] == [
        ("secret 0", True),
        ("a private key", False),
    ]


def test_other_content_holds_nothing() -> None:
    found = scanner(TOKEN, SHORT, *KEYS.values())

    assert found.hits(b"") == ()
    assert found.hits(b"kind: Secret\n" * 1000) == ()
    assert found.hits(bytes(range(256)) * 100) == ()
