"""Formats of encrypted files, determined by their names, and parsing of JSON with positions."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from enum import Enum
from typing import NoReturn

from stockman.crypto.sops import problems
from stockman.crypto.sops.scalars import INT_MAX, INT_MIN, SopsValue
from stockman.crypto.sops.tree import (
    MAX_DEPTH,
    ParsedFile,
    SopsDocument,
    SopsEntry,
    SopsMapping,
    SopsNode,
    SopsScalar,
    SopsSequence,
)
from stockman.crypto.sops.yaml_reader import read_yaml
from stockman.model.pattern import pattern


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
    text = _decode_text(content, file)
    return read_yaml(file, text) if form is FileFormat.YAML else read_json(file, text)


def parse_plaintext(content: bytes, form: FileFormat, file: str) -> ParsedFile:
    """Parse a plaintext; a binary file becomes a single value named `data`."""
    if form is FileFormat.BINARY:
        value = content.decode("utf-8", "surrogateescape")
        sheet = read_json(file, '{\n\t"data": ""\n}\n')
        leaf = next(sheet.documents[0].root.entries()).node
        leaf.value = value  # type: ignore[union-attr]  # the text above holds one leaf
        return sheet
    return parse_encrypted(content, form, file)


def _decode_text(content: bytes, file: str) -> str:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise problems.bad_syntax(file, "it is not UTF-8 text") from None
    # Line ends of Windows: readers of YAML and JSON do not see the difference.
    return text.replace("\r\n", "\n")


_SPACE = pattern(r"[ \t\r\n]*")
_STRING = pattern(r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"')
_NUMBER = pattern(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")
_WORDS: dict[str, SopsValue] = {"true": True, "false": False, "null": None}
_WORD = pattern("true|false|null")
_LONE = pattern("[\ud800-\udfff]")


def read_json(file: str, text: str) -> ParsedFile:
    """Parse the document of a JSON file; raises with position and reason."""
    return _JsonTreeReader(ParsedFile(file, text, [])).sheet()


class _JsonTreeReader:
    def __init__(self, sheet: ParsedFile) -> None:
        self._sheet = sheet
        self._text = sheet.text
        self._index = 0
        self._depth = 0

    def sheet(self) -> ParsedFile:
        self._skip()
        start = self._index
        if self._next() != "{":
            raise problems.unsupported(
                self._sheet.position(start),
                "JSON that is not one object",
                'put it into one: {"data": ...}',
            )
        root = self._object()
        self._skip()
        if self._index < len(self._text):
            self._fail("there is content after the end of the object")
        self._sheet.documents.append(SopsDocument(root, root.end))
        return self._sheet

    def _value(self) -> SopsNode:
        match self._next():
            case "{":
                return self._object()
            case "[":
                return self._array()
            case '"':
                start = self._index
                return SopsScalar(self._string(), start, self._index, flow=True)
        start = self._index
        if match := _WORD.match(self._text, start):
            self._index = match.end()
            return SopsScalar(_WORDS[match[0]], start, self._index, flow=True)
        return SopsScalar(self._number(), start, self._index, flow=True)

    def _object(self) -> SopsMapping:
        branch = SopsMapping(self._index, 0, flow=True)
        known: set[str] = set()
        for _ in self._members("}"):
            start = self._index
            if self._next() != '"':
                self._fail("a key in quotes is missing")
            key = self._string()
            if key in known:
                raise problems.duplicate_key(self._sheet.position(start), key)
            known.add(key)
            self._skip()
            if self._next() != ":":
                self._fail("a `:` is missing")
            self._index += 1
            self._skip()
            branch.items.append(SopsEntry(key, start, self._value()))
        branch.end = self._index
        return branch

    def _array(self) -> SopsSequence:
        items = SopsSequence(self._index, 0, flow=True)
        for _ in self._members("]"):
            items.items.append(self._value())
        items.end = self._index
        return items

    def _members(self, closing: str) -> Iterator[None]:
        """Stand at each member of an object or array in turn, and finally behind its end."""
        self._depth += 1
        if self._depth > MAX_DEPTH:
            self._fail(f"the nesting is deeper than {MAX_DEPTH} levels")
        self._index += 1
        self._skip()
        is_first = True
        while self._next() != closing:
            if not is_first:
                if self._next() != ",":
                    self._fail(f"a `,` or `{closing}` is missing")
                self._index += 1
                self._skip()
            is_first = False
            yield
            self._skip()
        self._index += 1
        self._depth -= 1

    def _string(self) -> str:
        match = _STRING.match(self._text, self._index)
        if match is None:
            self._fail("a text has no end, or a character that has to be escaped")
        self._index = match.end()
        return _LONE.sub("\ufffd", str(json.loads(match[0])))

    def _number(self) -> SopsValue:
        match = _NUMBER.match(self._text, self._index)
        if match is None:
            self._fail("a value is missing" if self._next() else "the file ends too early")
        self._index = match.end()
        if match[0].lstrip("-").isdigit() and INT_MIN <= int(match[0]) <= INT_MAX:
            return int(match[0])
        number = float(match[0])
        if math.isinf(number):
            self._fail("a number is too large")
        return number

    def _next(self) -> str:
        return self._text[self._index : self._index + 1]

    def _skip(self) -> None:
        match = _SPACE.match(self._text, self._index)
        self._index = match.end() if match else self._index

    def _fail(self, why: str) -> NoReturn:
        raise problems.bad_syntax(self._sheet.position(self._index), why)
