"""Read values of a decrypted file, and update an encrypted file with minimal changes.

Unchanged values keep their ciphertext; a file with the same content stays byte for byte the same.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from stockman.crypto.age.identities import AgeIdentity
from stockman.crypto.sops import problems
from stockman.crypto.sops.files import (
    CiphertextCache,
    DecryptedFile,
    EncryptionInputs,
    ValueEncryptor,
    ciphertext_edit,
    open_file,
    parse_unencrypted,
    plaintext,
    render_encrypted,
    scalar_edit,
)
from stockman.crypto.sops.forms import FileFormat, file_format, parse_plaintext
from stockman.crypto.sops.metadata import Metadata
from stockman.crypto.sops.paths import ValuePath, format_path
from stockman.crypto.sops.scalars import (
    CommentText,
    SopsValue,
    Timestamp,
    go_float,
    needs_quotes,
    values_equal,
)
from stockman.crypto.sops.selectors import DEFAULT_INDENT
from stockman.crypto.sops.text_edits import json_text, replace_entry, yaml_text
from stockman.crypto.sops.tree import (
    METADATA_KEY,
    ParsedFile,
    SopsComment,
    SopsDocument,
    SopsMapping,
    SopsNode,
    SopsScalar,
    SopsSequence,
    TextEdit,
    apply_edits,
    end_index,
)
from stockman.crypto.sops.values import Slot, outline, walk_slots
from stockman.model.errors import NotFound, Refused, StockmanError
from stockman.model.pattern import pattern
from stockman.model.problem import Problem
from stockman.model.record import record


def reencrypt(
    content: bytes,
    plain: bytes,
    file: str,
    identities: Sequence[AgeIdentity],
    fresh: EncryptionInputs,
) -> bytes:
    """Encrypt a new plaintext of an existing file.

    The same values give the same bytes. If only values differ, only they, the MAC and the time
    change. If keys are added, removed or moved, the layout of the new plaintext is used, and
    unchanged values keep their ciphertext.
    """
    old = open_file(content, file, identities)
    new = parse_unencrypted(plain, old.form, file)
    slots = list(walk_slots(new.documents, old.metadata.selector.compile()))
    if outline(old.parsed.documents, old.slots) != outline(new.documents, slots):
        sealer = ValueEncryptor(old.data_key, fresh, CiphertextCache(old))
        return render_encrypted(new, old.form, sealer, old.metadata, _entry_indent(old))
    changed = [
        (before, after.value)
        for before, after in zip(_value_slots(old.slots), _value_slots(slots), strict=True)
        if not values_equal(before.value, after.value)
    ]
    return replace_values(old, changed, fresh) if changed else content


def replace_values(
    old: DecryptedFile, changed: Sequence[tuple[Slot, SopsValue]], fresh: EncryptionInputs
) -> bytes:
    """Return the file with new values in some slots, and everything else unchanged."""
    sealer = ValueEncryptor(old.data_key, fresh)
    edits: list[TextEdit] = []
    for slot, value in changed:
        slot.value = value
        if isinstance(slot.node, SopsScalar):
            edits.append(_value_edit(old, slot, slot.node, sealer))
    signed = sealer.sign(old.slots, old.metadata)
    for document in old.parsed.documents:
        edits += _signature_edits(old, document, signed)
    return apply_edits(old.parsed.text, edits).encode()


def _value_edit(
    old: DecryptedFile, slot: Slot, leaf: SopsScalar, sealer: ValueEncryptor
) -> TextEdit:
    sealed = sealer.encrypt(slot) if slot.encrypted else ""
    if sealed:
        return ciphertext_edit(leaf, sealed)
    if slot.encrypted:
        return TextEdit(leaf.start, leaf.end, '""')
    return scalar_edit(old.parsed, old.form, leaf, slot.value)


def _signature_edits(
    old: DecryptedFile, document: SopsDocument, signed: Metadata
) -> list[TextEdit]:
    entry = document.root.entry(METADATA_KEY)
    if entry is None:
        return []
    time = _find_scalar(entry.node, "lastmodified")
    mac = _find_scalar(entry.node, "mac")
    if time is None or mac is None:
        return [replace_entry(old.parsed, document, entry, old.form, signed)]
    return [
        TextEdit(time.start, time.end, json.dumps(signed.lastmodified)),
        ciphertext_edit(mac, signed.mac),
    ]


def _find_scalar(node: object, key: str) -> SopsScalar | None:
    entry = node.entry(key) if isinstance(node, SopsMapping) else None
    return entry.node if entry is not None and isinstance(entry.node, SopsScalar) else None


def _value_slots(slots: list[Slot]) -> list[Slot]:
    return [slot for slot in slots if not isinstance(slot.value, CommentText)]


def _entry_indent(old: DecryptedFile) -> int:
    """Return the indentation of the `sops` entry of a YAML file."""
    root = old.parsed.documents[0].root
    entry = root.entry(METADATA_KEY)
    if old.form is FileFormat.YAML and entry is not None and isinstance(entry.node, SopsMapping):
        return max(entry.node.column - root.column, 2)
    return DEFAULT_INDENT


@record
class NewValue:
    """A value for a path of a file."""

    path: ValuePath
    value: SopsValue


def value_at(file: DecryptedFile, path: ValuePath) -> SopsValue:
    """Return the value at a path of the first document; None: the value is null."""
    node = _find_node(file, path)
    for slot in file.slots:
        if slot.node is node:
            return slot.value
    return None


def set_existing_value(
    content: bytes,
    file: str,
    new: NewValue,
    identities: Sequence[AgeIdentity],
    fresh: EncryptionInputs,
) -> bytes:
    """Set a value that exists; the same value changes nothing."""
    old = open_file(content, file, identities)
    slot = _find_slot(old, new.path)
    if values_equal(slot.value, new.value):
        return content
    return replace_values(old, [(slot, new.value)], fresh)


def _find_slot(file: DecryptedFile, path: ValuePath) -> Slot:
    node = _find_node(file, path)
    for slot in file.slots:
        if slot.node is node:
            return slot
    raise value_not_found(file, path, "there is null, which is not encrypted")


def _find_node(file: DecryptedFile, path: ValuePath) -> SopsScalar:
    node: SopsNode | None = file.parsed.documents[0].root
    comments = {id(slot.node) for slot in file.slots if isinstance(slot.value, CommentText)}
    for depth, step in enumerate(path):
        node = None if depth == 0 and step == METADATA_KEY else child_node(node, step, comments)
        if node is None:
            raise value_not_found(file, path[: depth + 1], "there is nothing")
    if not isinstance(node, SopsScalar):
        raise value_not_found(file, path, "there is a mapping or a list, not one value")
    return node


def child_node(node: SopsNode | None, step: str | int, comments: set[int]) -> SopsNode | None:
    """Return the child of a node; `comments` are ids of items that are comments."""
    if isinstance(node, SopsMapping):
        entry = node.entry(str(step))
        return entry.node if entry else None
    if isinstance(node, SopsSequence) and isinstance(step, int):
        items = [
            item
            for item in node.items
            if not isinstance(item, SopsComment) and id(item) not in comments
        ]
        return items[step] if 0 <= step < len(items) else None
    return None


def value_not_found(file: DecryptedFile, path: ValuePath, why: str) -> NotFound:
    """Return the error for a path without a value."""
    return NotFound(
        Problem(
            code="sops.no-value",
            what=f"the file has no value at {format_path(path)}",
            where=file.parsed.file,
            why=why,
            fix="list its keys with `stockman secrets get -o name` and correct the path",
        )
    )


_INDENT_STEP = 2
_MEMBER_INDENT = pattern(r"\n([ \t]+)\Z")


def set_value(
    content: bytes,
    file: str,
    new: NewValue,
    identities: Sequence[AgeIdentity],
    fresh: EncryptionInputs,
) -> bytes:
    """Set the value at a path of an encrypted file, adding keys if needed."""
    old = open_file(content, file, identities)
    plain = plaintext(old)
    scalar = _scalar_at(parse_plaintext(plain, old.form, file), new.path)
    if scalar is not None and scalar.value is not None:
        return set_existing_value(content, file, new, identities, fresh)
    return reencrypt(content, set_plaintext_value(plain, file, new), file, identities, fresh)


def set_plaintext_value(plain: bytes, file: str, new: NewValue) -> bytes:
    """Set the value at a path of a plaintext; an empty one becomes a file with only that value."""
    form = file_format(file)
    if form is FileFormat.BINARY:
        raise _not_assignable(file, new.path, "the file is one text without keys")
    sheet = parse_plaintext(plain if plain.strip() else _empty_document(form), form, file)
    edited = apply_edits(sheet.text, [_assignment_edit(sheet, form, new)]).encode()
    if not _has_value(edited, form, file, new):
        raise problems.bad_layout(file)
    return edited


def _empty_document(form: FileFormat) -> bytes:
    return b"{}\n" if form is FileFormat.JSON else b""


def _assignment_edit(sheet: ParsedFile, form: FileFormat, new: NewValue) -> TextEdit:
    if not sheet.documents:
        return TextEdit(0, 0, _yaml_entries(new.path, new, 0) + "\n")
    node: SopsNode = sheet.documents[0].root
    for depth, step in enumerate(new.path):
        if depth == 0 and step == METADATA_KEY:
            raise _not_assignable(sheet.file, new.path, "SOPS keeps its keys under that name")
        below = child_node(node, step, set())
        if below is None:
            return _insertion_edit(sheet, form, node, new, depth)
        node = below
    if isinstance(node, SopsScalar):
        return _fill_empty_scalar(sheet, form, node, new)
    raise _not_assignable(sheet.file, new.path, "a mapping or a list stands there")


def _fill_empty_scalar(
    sheet: ParsedFile, form: FileFormat, leaf: SopsScalar, new: NewValue
) -> TextEdit:
    edit = scalar_edit(sheet, form, leaf, new.value)
    missing = leaf.start == leaf.end and not sheet.text[: leaf.start].endswith(" ")
    return edit._replace(text=f" {edit.text}") if missing else edit


def _insertion_edit(
    sheet: ParsedFile, form: FileFormat, node: SopsNode, new: NewValue, depth: int
) -> TextEdit:
    if (
        isinstance(node, SopsScalar)
        and node.value is None
        and form is FileFormat.YAML
        and not node.flow
    ):
        text = _yaml_entries(new.path[depth:], new, node.column + _INDENT_STEP)
        start = len(sheet.text[: node.start].rstrip(" "))
        return TextEdit(start, node.end, f"\n{' ' * (node.column + _INDENT_STEP)}{text}")
    if not isinstance(node, SopsMapping):
        above = format_path(new.path[:depth])
        kind = "a list" if isinstance(node, SopsSequence) else "one value"
        raise _not_assignable(sheet.file, new.path, f"{above} is {kind} and has no such place")
    if node.flow:
        return _insert_in_brackets(sheet, form, node, new, depth)
    text = _yaml_entries(new.path[depth:], new, node.column)
    end = sheet.text.find("\n", end_index(node))
    if end < 0:
        end = len(sheet.text)
    if not node.items and not node.column:
        return TextEdit(end, end, f"{text}\n")
    return TextEdit(end, end, f"\n{' ' * node.column}{text}")


def _yaml_entries(path: ValuePath, new: NewValue, column: int) -> str:
    """Return nested keys with the value; the first line is not indented."""
    text = ""
    for depth, step in enumerate(path):
        key = str(step)
        margin = f"\n{' ' * (column + depth * _INDENT_STEP)}" if depth else ""
        text += f"{margin}{json.dumps(key) if needs_quotes(key) else key}:"
    leaf = SopsScalar(new.value, 0, 0, column=column + (len(path) - 1) * _INDENT_STEP)
    return f"{text} {yaml_text(new.value, leaf, ends_line=True)}"


def _insert_in_brackets(
    sheet: ParsedFile, form: FileFormat, branch: SopsMapping, new: NewValue, depth: int
) -> TextEdit:
    leaf = SopsScalar(new.value, 0, 0, flow=True)
    in_json = form is FileFormat.JSON
    text = json_text(new.value) if in_json else yaml_text(new.value, leaf, ends_line=False)
    for step in reversed(new.path[depth + 1 :]):
        text = f"{{{json.dumps(str(step))}: {text}}}"
    text = f"{json.dumps(str(new.path[depth]))}: {text}"
    entries = list(branch.entries())
    if not entries:
        return TextEdit(branch.start + 1, branch.start + 1, text)
    before = _MEMBER_INDENT.search(sheet.text[: entries[0].start])
    gap = f",\n{before[1]}" if before else ", "
    end = end_index(entries[-1].node)
    return TextEdit(end, end, gap + text)


def _has_value(edited: bytes, form: FileFormat, file: str, new: NewValue) -> bool:
    try:
        leaf = _scalar_at(parse_plaintext(edited, form, file), new.path)
    except StockmanError:
        return False
    return leaf is not None and values_equal(leaf.value, new.value)


def _scalar_at(sheet: ParsedFile, path: ValuePath) -> SopsScalar | None:
    node: SopsNode | None = sheet.documents[0].root if sheet.documents else None
    for step in path:
        node = child_node(node, step, set())
    return node if isinstance(node, SopsScalar) else None


def _not_assignable(file: str, path: ValuePath, why: str) -> Refused:
    shown = format_path(path)
    return Refused(
        Problem(
            code="sops.no-place",
            what=f"no value can be put at {shown}",
            where=file,
            why=why,
            fix="change the file with `stockman secrets edit`, or correct the path",
        )
    )


PlainData = str | int | float | bool | None | list["PlainData"] | dict[str, "PlainData"]


def to_data(file: DecryptedFile) -> PlainData:
    """Return the values of a file as JSON data; several documents become a list."""
    reader = _ContentReader(file)
    documents: list[PlainData] = [
        reader.data(document.root, top=True) for document in file.parsed.documents
    ]
    return documents[0] if len(documents) == 1 else documents


def data_at(file: DecryptedFile, path: ValuePath) -> PlainData:
    """Return the value, mapping or list at a path of the first document."""
    data = _ContentReader(file).data(file.parsed.documents[0].root, top=True)
    for depth, step in enumerate(path):
        if isinstance(data, dict) and str(step) in data:
            data = data[str(step)]
        elif isinstance(data, list) and isinstance(step, int) and step < len(data):
            data = data[step]
        else:
            raise value_not_found(file, path[: depth + 1], "there is nothing")
    return data


def list_paths(file: DecryptedFile) -> Iterator[ValuePath]:
    """Yield the path of every value of the first document, in order."""
    return _ContentReader(file).paths(file.parsed.documents[0].root, (), top=True)


def format_value(value: SopsValue) -> str:
    """Return a value as plain text."""
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    if isinstance(value, float):
        return go_float(value)
    return value.text if isinstance(value, Timestamp | CommentText) else str(value)


class _ContentReader:
    def __init__(self, file: DecryptedFile) -> None:
        self._values = {id(slot.node): slot.value for slot in file.slots}

    def data(self, node: SopsNode, *, top: bool = False) -> PlainData:
        if isinstance(node, SopsMapping):
            return {
                entry.key: self.data(entry.node)
                for entry in node.entries()
                if not (top and entry.key == METADATA_KEY)
            }
        if isinstance(node, SopsSequence):
            return [self.data(item) for item in self._items(node)]
        value = self._values.get(id(node))
        if isinstance(value, Timestamp | CommentText):
            return value.text
        if isinstance(value, str):
            return value.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
        return value

    def paths(self, node: SopsNode, path: ValuePath, *, top: bool = False) -> Iterator[ValuePath]:
        if isinstance(node, SopsMapping):
            for entry in node.entries():
                if not (top and entry.key == METADATA_KEY):
                    yield from self.paths(entry.node, (*path, entry.key))
        elif isinstance(node, SopsSequence):
            for index, item in enumerate(self._items(node)):
                yield from self.paths(item, (*path, index))
        else:
            yield path

    def _items(self, items: SopsSequence) -> Iterator[SopsNode]:
        for item in items.items:
            is_comment = isinstance(item, SopsScalar) and isinstance(
                self._values.get(id(item)), CommentText
            )
            if not isinstance(item, SopsComment) and not is_comment:
                yield item
