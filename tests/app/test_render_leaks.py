"""The last look through plain files."""

from __future__ import annotations

import base64
import json
from dataclasses import replace

import pytest

from stockman.app.rendering.materials import UNKNOWN
from stockman.app.rendering.secrets import check_leaks
from stockman.model.errors import Refused
from stockman.model.secret import Secret
from stockman.rendering.tree import FileTree, RenderedFile
from tests.catalog.estates import MATERIALS, wanted

TOKEN = 'to "ken" / 5b1d8c77'
KEY = "-----BEGIN KEY-----\none-long-line-of-what-would-be-a-key\n-----END KEY-----"


def look(text: str | Secret, token: str = TOKEN) -> None:
    materials = replace(MATERIALS, webhook_token=Secret(token))
    files = [
        RenderedFile(path="first.yaml", owner="echo", text="plain"),
        RenderedFile(path="second.yaml", owner="echo", text=text),
    ]
    check_leaks(FileTree(files), wanted(), materials)


@pytest.mark.parametrize(
    "text",
    [
        TOKEN,
        json.dumps({"token": TOKEN}),
        "to%20%22ken%22%20%2F%205b1d8c77",
        base64.b64encode(TOKEN.encode()).decode(),
        base64.b64encode(f"user:{TOKEN}".encode()).decode(),
    ],
)
def test_a_secret_is_found_in_every_form(text: str) -> None:
    with pytest.raises(Refused) as caught:
        look(f"a: {text}\n")

    problem = caught.value.problem
    assert (problem.code, problem.where) == ("render.leak", "second.yaml")
    assert "materials.webhook_token" in problem.why
    assert TOKEN not in str(problem)


def test_a_line_of_a_key_is_found() -> None:
    with pytest.raises(Refused):
        look(f"  {KEY.splitlines()[1]}\n", KEY)


def test_lines_of_a_secret_document_may_stand_elsewhere() -> None:
    look("image: example.com/one/image:v1.2.3\n", "image: example.com/one/image:v1.2.3\nkey: abcd")


@pytest.mark.parametrize("token", ["short", UNKNOWN])
def test_what_stands_everywhere_or_for_something_else_is_not_looked_for(token: str) -> None:
    look(f"a: {token}\n", token)


def test_an_encrypted_file_may_hold_secrets() -> None:
    look(Secret(TOKEN))


def test_nothing_is_found_across_two_files() -> None:
    look("to join", "plainto join")
