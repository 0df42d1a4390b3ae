"""Secrets in files that are not encrypted are found, by what was done and by their value."""

import base64
import json
from urllib.parse import quote

import pytest

from stockman.model.secret import Secret
from stockman.rendering.templates.render import find_exposed_secrets, is_sealed, secrets_in_file
from tests.rendering.templates.trees import SECRET, rendering_of

KEY = "-----BEGIN KEY-----\none-long-line-of-what-would-be-a-key\n-----END KEY-----"
SECRETS = {"token": Secret(SECRET), "key": Secret(KEY), "pin": Secret("1234")}


@pytest.mark.parametrize(
    ("path", "sealed"),
    [
        ("a/secret.sops.yaml", True),
        ("a/secret.sops.json", True),
        ("a/secret.yaml", False),
        (".sops.yaml", False),
        ("a/.sops.yaml", False),
        ("a.sops.d/plain.yaml", False),
        ("secret.sops", False),
    ],
)
def test_files_are_encrypted_by_their_name(path: str, sealed: bool) -> None:
    assert is_sealed(path) is sealed


@pytest.mark.parametrize(
    "content",
    [
        SECRET,
        f"token: '{SECRET}'",
        SECRET.upper(),
        json.dumps({"a": SECRET}),
        quote(f"?token={SECRET}&", safe=""),
        base64.b64encode(SECRET.encode()).decode(),
        base64.b64encode(f"user:{SECRET}".encode()).decode(),
        base64.b64encode(f"a{SECRET}bc".encode()).decode(),
    ],
)
def test_a_value_is_found_however_it_is_written(content: str) -> None:
    assert secrets_in_file(f"x: 1\n{content}\n".encode(), SECRETS) == {"token"}


def test_a_key_of_several_lines_is_found_in_an_indented_block() -> None:
    indented = "\n".join(f"    {line}" for line in KEY.splitlines())

    assert secrets_in_file(indented.encode(), SECRETS) == {"key"}


@pytest.mark.parametrize("content", ["1234", "-----BEGIN KEY-----", "hay", ""])
def test_what_stands_anywhere_by_chance_is_not_taken_for_a_secret(content: str) -> None:
    assert secrets_in_file(content.encode(), SECRETS) == set()


def test_a_copied_file_with_a_secret_is_found_too() -> None:
    (problem,) = find_exposed_secrets(rendering_of({"notes.txt": f"remember {SECRET}\n"}))

    assert problem.code == "template.secret-exposed"
    assert problem.where == "templates/config/notes.txt"
    assert SECRET not in str(problem)


def test_a_short_secret_is_found_by_what_the_template_did() -> None:
    (problem,) = rendering_of({"app.yaml.j2": "#{ cloudflare_token[:2] }#"}).problems

    assert problem.code == "template.secret-used"


def test_an_encrypted_file_may_hold_secrets() -> None:
    rendering = rendering_of({"app.sops.yaml.j2": "#{ cloudflare_token }#"})

    assert list(find_exposed_secrets(rendering)) == []


def test_a_file_that_comes_out_empty_exposes_nothing() -> None:
    text = "#% set x %##{ cloudflare_token }##% endset %#"

    assert list(find_exposed_secrets(rendering_of({"app.yaml.j2": text}))) == []
