"""Text edits for values, comments and the `sops` entry."""

from __future__ import annotations

import json
import math

from stockman.crypto.sops import problems
from stockman.crypto.sops.forms import FileFormat
from stockman.crypto.sops.metadata import Metadata, render_json_entry, render_yaml_entry
from stockman.crypto.sops.scalars import SopsValue, Timestamp, go_float, needs_quotes
from stockman.crypto.sops.tree import (
    ParsedFile,
    SopsComment,
    SopsDocument,
    SopsEntry,
    SopsMapping,
    SopsScalar,
    SopsSequence,
    TextEdit,
    end_index,
)
from stockman.model.pattern import pattern

_INDENT = 2


def yaml_text(value: SopsValue, leaf: SopsScalar, *, ends_line: bool) -> str:
    """Format a value for the position of a leaf; multi-line texts become literal blocks."""
    if isinstance(value, str):
        return _yaml_string(value, leaf, block=ends_line and not leaf.flow)
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    if isinstance(value, float):
        return _yaml_float(value)
    return value.text if isinstance(value, Timestamp) else str(value)


def json_text(value: SopsValue) -> str:
    """Format a value as JSON; timestamps become strings, as in SOPS."""
    if isinstance(value, Timestamp):
        return json.dumps(value.text)
    if isinstance(value, float):
        return _with_point(go_float(value))
    return json.dumps(value, ensure_ascii=False)


def _yaml_string(text: str, leaf: SopsScalar, *, block: bool) -> str:
    if block and "\n" in text and _fits_literal_block(text):
        return _literal_block(text, leaf.column + _INDENT)
    if leaf.flow or needs_quotes(text):
        return _quote(text)
    return text


def _quote(text: str) -> str:
    quoted = json.dumps(text, ensure_ascii=False)
    return "".join(
        character if character.isprintable() else _escape(character) for character in quoted
    )


def _escape(character: str) -> str:
    code = ord(character)
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _fits_literal_block(text: str) -> bool:
    """Return whether a literal block preserves a text."""
    lines = text.split("\n")
    return (
        not text.startswith((" ", "\n"))
        # Blank lines that stand behind it in the file would be added to those at its end.
        and not text.endswith("\n\n")
        and all(line.isprintable() for line in lines)
        and not any(line.endswith(" ") for line in lines)
    )


def _literal_block(text: str, column: int) -> str:
    body = text.removesuffix("\n")
    lines = [f"{' ' * column}{line}" if line else "" for line in body.split("\n")]
    return "\n".join(["|" if body != text else "|-", *lines])


def _yaml_float(number: float) -> str:
    if math.isnan(number):
        return ".nan"
    if math.isinf(number):
        return ".inf" if number > 0 else "-.inf"
    return _with_point(go_float(number))


def _with_point(digits: str) -> str:
    return digits if "." in digits else f"{digits}.0"


_COMMA = pattern(r" *, *")
_BLANK_LINE = pattern(r"[ \t]*(?:\n|\Z)")
_FIRST_MEMBER = pattern(r"\{\n([ \t]+)")


def add_entry(
    sheet: ParsedFile, document: SopsDocument, form: FileFormat, metadata: Metadata, indent: int
) -> TextEdit:
    """Return the edit that appends the `sops` entry to a document."""
    root = document.root
    if root.flow:
        return _add_in_brackets(sheet, root, form, metadata)
    text = render_yaml_entry(metadata, indent)
    if root.column:
        margin = " " * root.column
        text = "".join(f"{margin}{line}" for line in text.splitlines(keepends=True))
    ended = document.end == 0 or sheet.text[document.end - 1] == "\n"
    return TextEdit(document.end, document.end, text if ended else f"\n{text}")


def replace_entry(
    sheet: ParsedFile,
    document: SopsDocument,
    entry: SopsEntry,
    form: FileFormat,
    metadata: Metadata,
) -> TextEdit:
    """Return the edit that replaces the `sops` entry, keeping its indentation."""
    if document.root.flow:
        added = render_json_entry(metadata, _json_indent(sheet, document.root, form))
        return TextEdit(entry.start, end_index(entry.node), added)
    removed = remove_entry(sheet, document, entry)
    indent = entry.node.column - document.root.column if isinstance(entry.node, SopsMapping) else 4
    text = render_yaml_entry(metadata, indent)
    margin = " " * document.root.column
    text = "".join(f"{margin}{line}" for line in text.splitlines(keepends=True))
    return TextEdit(removed.start, removed.end, text)


def remove_entry(sheet: ParsedFile, document: SopsDocument, entry: SopsEntry) -> TextEdit:
    """Return the edit that removes a top-level entry."""
    root = document.root
    if not root.flow:
        return TextEdit(
            _line_start(sheet, entry.start), _line_end(sheet, end_index(entry.node)), ""
        )
    entries = list(root.entries())
    index = entries.index(entry)
    if index:
        return TextEdit(end_index(entries[index - 1].node), end_index(entry.node), "")
    if len(entries) > 1:
        return TextEdit(entry.start, entries[1].start, "")
    return TextEdit(entry.start, end_index(entry.node), "")


def comment_to_item(
    sheet: ParsedFile, items: SopsSequence, note: SopsComment, text: str
) -> list[TextEdit]:
    """Return the edits that store an encrypted comment of a list as a list item, as SOPS does."""
    if items.flow:
        if note.start < items.end:
            raise problems.unsupported_comment(sheet.position(note.start))
        following = ", " if any(not isinstance(item, SopsComment) for item in items.items) else ""
        inside = items.start + 1
        return [
            TextEdit(inside, inside, json.dumps(text) + following),
            _remove_comment(sheet, note),
        ]
    if note.own_line:
        start = _line_start(sheet, note.start)
        return [TextEdit(start, note.end, f"{' ' * items.column}- {text}")]
    index = next(index for index, item in enumerate(items.items) if item is note)
    following_node = next(item for item in items.items[index:] if not isinstance(item, SopsComment))
    dash = _dash_index(sheet, following_node.start)
    inserted = TextEdit(dash, dash, f"- {text}\n{' ' * items.column}")
    return [inserted] if note.tail else [inserted, _remove_comment(sheet, note)]


def item_to_comment(
    sheet: ParsedFile, parent: SopsMapping | SopsSequence, leaf: SopsScalar, text: str
) -> list[TextEdit]:
    """Return the edits that restore a comment from a list item."""
    if not isinstance(parent, SopsSequence):
        raise problems.bad_value(sheet.position(leaf.start), "a comment stands where a value was")
    if not parent.flow:
        return [TextEdit(_dash_index(sheet, leaf.start), leaf.end, f"#{text}")]
    comma = _COMMA.match(sheet.text, leaf.end)
    removed = TextEdit(leaf.start, comma.end() if comma else leaf.end, "")
    if _BLANK_LINE.match(sheet.text, parent.end) is None:
        raise problems.unsupported_comment(sheet.position(leaf.start))
    return [removed, TextEdit(parent.end, parent.end, f" #{text}")]


def _add_in_brackets(
    sheet: ParsedFile, root: SopsMapping, form: FileFormat, metadata: Metadata
) -> TextEdit:
    unit = _json_indent(sheet, root, form)
    text = render_json_entry(metadata, unit)
    entries = list(root.entries())
    if unit is not None:
        text = f"\n{unit}{text}"
    elif entries:
        text = f" {text}"
    end = end_index(entries[-1].node) if entries else root.start + 1
    before = "," if entries else ""
    return TextEdit(end, end, before + text)


def _json_indent(sheet: ParsedFile, root: SopsMapping, form: FileFormat) -> str | None:
    if form is FileFormat.YAML:
        return None
    match = _FIRST_MEMBER.match(sheet.text, root.start)
    return match[1] if match else None


def _remove_comment(sheet: ParsedFile, note: SopsComment) -> TextEdit:
    start = len(sheet.text[: note.start].rstrip(" \t"))
    return TextEdit(start, note.end, "")


def _dash_index(sheet: ParsedFile, index: int) -> int:
    dash = sheet.text.rfind("-", _line_start(sheet, index), index)
    if dash < 0:
        raise problems.unsupported_comment(sheet.position(index))
    return dash


def _line_start(sheet: ParsedFile, index: int) -> int:
    return sheet.text.rfind("\n", 0, index) + 1


def _line_end(sheet: ParsedFile, index: int) -> int:
    end = sheet.text.find("\n", max(index - 1, 0))
    return end + 1 if end >= 0 else len(sheet.text)
