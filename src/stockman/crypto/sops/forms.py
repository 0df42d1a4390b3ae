"""The forms of encrypted files, told by their names, and how each is read."""

from __future__ import annotations

import json
from enum import Enum

from stockman.crypto.sops import problems
from stockman.crypto.sops.tree import Sheet
from stockman.crypto.sops.yaml_reader import read_yaml


class Form(Enum):
    """How the content of a file is kept."""

    YAML = "yaml"
    JSON = "json"
    BINARY = "binary"


def form_of(path: str) -> Form:
    """The form that SOPS takes from the name of a file; refuses INI and dotenv."""
    suffix = path.rsplit("/", 1)[-1].rpartition(".")[2]
    if suffix in ("yaml", "yml"):
        return Form.YAML
    if suffix == "json":
        return Form.JSON
    if suffix in ("ini", "env"):
        raise problems.foreign_format(path, "dotenv" if suffix == "env" else "ini")
    return Form.BINARY


def encrypted_sheet(content: bytes, form: Form, file: str) -> Sheet:
    """The tree of a file on disk; binary files are kept in JSON."""
    return _sheet(content, form, file)


def plain_sheet(content: bytes, form: Form, file: str) -> Sheet:
    """The tree of a plaintext; that of a binary file is one value with the name `data`."""
    if form is Form.BINARY:
        from stockman.crypto.sops.json_reader import read_json

        value = content.decode("utf-8", "surrogateescape")
        sheet = read_json(file, '{\n\t"data": ""\n}\n')
        leaf = next(sheet.documents[0].root.entries()).node
        leaf.value = value  # type: ignore[union-attr]  # the text above holds one leaf
        return sheet
    return _sheet(content, form, file)


def quoted(text: str) -> str:
    """A text as it stands in JSON, and inside of brackets in YAML."""
    return json.dumps(text)


def _sheet(content: bytes, form: Form, file: str) -> Sheet:
    text = _decoded(content, file)
    if form is Form.YAML:
        return read_yaml(file, text)
    from stockman.crypto.sops.json_reader import read_json

    return read_json(file, text)


def _decoded(content: bytes, file: str) -> str:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise problems.bad_syntax(file, "it is not UTF-8 text") from None
    # Line ends of Windows: readers of YAML and JSON do not see the difference.
    return text.replace("\r\n", "\n")
