"""The plaintext of an opened file, for eyes and editors."""

from __future__ import annotations

from stockman.crypto.sops import problems
from stockman.crypto.sops.edits import Edit, edited
from stockman.crypto.sops.forms import Form
from stockman.crypto.sops.opening import Opened
from stockman.crypto.sops.placing import entry_removed, item_as_comment
from stockman.crypto.sops.plain_text import json_text, yaml_text
from stockman.crypto.sops.scalars import Remark, Value, is_text, value_bytes
from stockman.crypto.sops.tree import METADATA_KEY, Leaf, Note, Sheet
from stockman.crypto.sops.walking import Slot


def plaintext(file: Opened) -> bytes:
    """What was encrypted: everything that was in the clear keeps its bytes."""
    if file.form is Form.BINARY:
        return value_bytes(_binary(file))
    edits = [edit for slot in file.slots if slot.encrypted for edit in _revealed(slot, file)]
    for document in file.sheet.documents:
        entry = document.root.entry(METADATA_KEY)
        if entry is not None:
            edits.append(entry_removed(file.sheet, document, entry))
    return edited(file.sheet.text, edits).encode()


def _binary(file: Opened) -> Value:
    entry = file.sheet.documents[0].root.entry("data")
    for slot in file.slots:
        if entry is not None and slot.node is entry.node and isinstance(slot.value, str):
            return slot.value
    raise problems.bad_syntax(file.sheet.file, "it holds no text under `data`")


def _revealed(slot: Slot, file: Opened) -> list[Edit]:
    node, value = slot.node, slot.value
    if isinstance(node, Note):
        return [Edit(node.start + 1, node.end, _remark(value))]
    if isinstance(value, Remark):
        return item_as_comment(file.sheet, slot.parent, node, value.text)
    if value == "":
        return []
    return [leaf_edit(file.sheet, file.form, node, value)]


def leaf_edit(sheet: Sheet, form: Form, leaf: Leaf, value: Value) -> Edit:
    """A value in the clear at the place of a leaf."""
    if isinstance(value, str) and not is_text(value):
        raise problems.unsupported(
            sheet.position(leaf.start), "a text that is not UTF-8", "keep it in a binary file"
        )
    if form is not Form.YAML:
        return Edit(leaf.start, leaf.end, json_text(value))
    line_end = sheet.text.find("\n", leaf.end)
    behind = sheet.text[leaf.end : line_end if line_end >= 0 else len(sheet.text)]
    text = yaml_text(value, leaf, ends_line=not behind.strip())
    return Edit(leaf.start, leaf.end, text)


def _remark(value: Value) -> str:
    return value.text if isinstance(value, Remark) else str(value)
