"""Formats of encrypted files, determined by their names, and how they are parsed."""

from __future__ import annotations

import json
from enum import Enum

from stockman.crypto.sops import problems
from stockman.crypto.sops.tree import ParsedFile
from stockman.crypto.sops.yaml_reader import read_yaml


class FileFormat(Enum):
    """Format of a file's content."""

    YAML = "yaml"
    JSON = "json"
    BINARY = "binary"


def file_format(path: str) -> FileFormat:
    """Return the format that SOPS uses for a file name; refuses INI and dotenv."""
    suffix = path.rsplit("/", 1)[-1].rpartition(".")[2]
    if suffix in ("yaml", "yml"):
        return FileFormat.YAML
    if suffix == "json":
        return FileFormat.JSON
    if suffix in ("ini", "env"):
        raise problems.foreign_format(path, "dotenv" if suffix == "env" else "ini")
    return FileFormat.BINARY


def parse_encrypted(content: bytes, form: FileFormat, file: str) -> ParsedFile:
    """Parse an encrypted file; binary files are stored as JSON."""
    return _parse(content, form, file)


def parse_plaintext(content: bytes, form: FileFormat, file: str) -> ParsedFile:
    """Parse a plaintext; a binary file becomes a single value named `data`."""
    if form is FileFormat.BINARY:
        from stockman.crypto.sops.json_reader import read_json

        value = content.decode("utf-8", "surrogateescape")
        sheet = read_json(file, '{\n\t"data": ""\n}\n')
        leaf = next(sheet.documents[0].root.entries()).node
        leaf.value = value  # type: ignore[union-attr]  # the text above holds one leaf
        return sheet
    return _parse(content, form, file)


def json_quote(text: str) -> str:
    """Quote a text for JSON, and for flow style in YAML."""
    return json.dumps(text)


def _parse(content: bytes, form: FileFormat, file: str) -> ParsedFile:
    text = _decode_text(content, file)
    if form is FileFormat.YAML:
        return read_yaml(file, text)
    from stockman.crypto.sops.json_reader import read_json

    return read_json(file, text)


def _decode_text(content: bytes, file: str) -> str:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise problems.bad_syntax(file, "it is not UTF-8 text") from None
    # Line ends of Windows: readers of YAML and JSON do not see the difference.
    return text.replace("\r\n", "\n")
