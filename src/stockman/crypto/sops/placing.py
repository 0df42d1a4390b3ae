"""Where the `sops` entry and the comments of lists are put into a text, and taken out again."""

from __future__ import annotations

from stockman.crypto.sops import problems
from stockman.crypto.sops.edits import Edit
from stockman.crypto.sops.forms import Form, quoted
from stockman.crypto.sops.metadata import Metadata
from stockman.crypto.sops.metadata_text import json_entry, yaml_entry
from stockman.crypto.sops.tree import Branch, Document, Entry, Items, Leaf, Note, Sheet, last_index
from stockman.model.pattern import pattern

_COMMA = pattern(r" *, *")
_BLANK_LINE = pattern(r"[ \t]*(?:\n|\Z)")
_FIRST_MEMBER = pattern(r"\{\n([ \t]+)")


def entry_added(
    sheet: Sheet, document: Document, form: Form, metadata: Metadata, indent: int
) -> Edit:
    """The `sops` entry at the end of a document."""
    root = document.root
    if root.flow:
        return _added_in_brackets(sheet, root, form, metadata)
    text = yaml_entry(metadata, indent)
    if root.column:
        margin = " " * root.column
        text = "".join(f"{margin}{line}" for line in text.splitlines(keepends=True))
    ended = document.end == 0 or sheet.text[document.end - 1] == "\n"
    return Edit(document.end, document.end, text if ended else f"\n{text}")


def entry_replaced(
    sheet: Sheet, document: Document, entry: Entry, form: Form, metadata: Metadata
) -> Edit:
    """Another `sops` entry at the place of the one that is there, with its indent."""
    if document.root.flow:
        added = json_entry(metadata, _unit(sheet, document.root, form))
        return Edit(entry.start, last_index(entry.node), added)
    removed = entry_removed(sheet, document, entry)
    indent = entry.node.column - document.root.column if isinstance(entry.node, Branch) else 4
    text = yaml_entry(metadata, indent)
    margin = " " * document.root.column
    text = "".join(f"{margin}{line}" for line in text.splitlines(keepends=True))
    return Edit(removed.start, removed.end, text)


def entry_removed(sheet: Sheet, document: Document, entry: Entry) -> Edit:
    """The document without one entry at its top."""
    root = document.root
    if not root.flow:
        return Edit(_line_start(sheet, entry.start), _line_end(sheet, last_index(entry.node)), "")
    entries = list(root.entries())
    place = entries.index(entry)
    if place:
        return Edit(last_index(entries[place - 1].node), last_index(entry.node), "")
    if len(entries) > 1:
        return Edit(entry.start, entries[1].start, "")
    return Edit(entry.start, last_index(entry.node), "")


def comment_as_item(sheet: Sheet, items: Items, note: Note, text: str) -> list[Edit]:
    """An encrypted comment of a list as an item of it, which is how SOPS keeps them."""
    if items.flow:
        if note.start < items.end:
            raise problems.comment_place(sheet.position(note.start))
        following = ", " if any(not isinstance(item, Note) for item in items.items) else ""
        inside = items.start + 1
        return [Edit(inside, inside, quoted(text) + following), _without_comment(sheet, note)]
    if note.own_line:
        start = _line_start(sheet, note.start)
        return [Edit(start, note.end, f"{' ' * items.column}- {text}")]
    place = next(place for place, item in enumerate(items.items) if item is note)
    following_node = next(item for item in items.items[place:] if not isinstance(item, Note))
    dash = _dash(sheet, following_node.start)
    inserted = Edit(dash, dash, f"- {text}\n{' ' * items.column}")
    return [inserted] if note.tail else [inserted, _without_comment(sheet, note)]


def item_as_comment(sheet: Sheet, parent: Branch | Items, leaf: Leaf, text: str) -> list[Edit]:
    """An item that is a comment, as the comment that it was."""
    if not isinstance(parent, Items):
        raise problems.bad_value(sheet.position(leaf.start), "a comment stands where a value was")
    if not parent.flow:
        return [Edit(_dash(sheet, leaf.start), leaf.end, f"#{text}")]
    comma = _COMMA.match(sheet.text, leaf.end)
    removed = Edit(leaf.start, comma.end() if comma else leaf.end, "")
    if _BLANK_LINE.match(sheet.text, parent.end) is None:
        raise problems.comment_place(sheet.position(leaf.start))
    return [removed, Edit(parent.end, parent.end, f" #{text}")]


def _added_in_brackets(sheet: Sheet, root: Branch, form: Form, metadata: Metadata) -> Edit:
    unit = _unit(sheet, root, form)
    text = json_entry(metadata, unit)
    entries = list(root.entries())
    if unit is not None:
        text = f"\n{unit}{text}"
    elif entries:
        text = f" {text}"
    place = last_index(entries[-1].node) if entries else root.start + 1
    before = "," if entries else ""
    return Edit(place, place, before + text)


def _unit(sheet: Sheet, root: Branch, form: Form) -> str | None:
    if form is Form.YAML:
        return None
    match = _FIRST_MEMBER.match(sheet.text, root.start)
    return match[1] if match else None


def _without_comment(sheet: Sheet, note: Note) -> Edit:
    start = len(sheet.text[: note.start].rstrip(" \t"))
    return Edit(start, note.end, "")


def _dash(sheet: Sheet, index: int) -> int:
    dash = sheet.text.rfind("-", _line_start(sheet, index), index)
    if dash < 0:
        raise problems.comment_place(sheet.position(index))
    return dash


def _line_start(sheet: Sheet, index: int) -> int:
    return sheet.text.rfind("\n", 0, index) + 1


def _line_end(sheet: Sheet, index: int) -> int:
    end = sheet.text.find("\n", max(index - 1, 0))
    return end + 1 if end >= 0 else len(sheet.text)
