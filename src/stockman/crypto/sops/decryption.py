"""Decrypt a file: unwrap its data key, verify its values and render its plaintext."""

from __future__ import annotations

import hmac
from collections.abc import Callable, Iterable, Sequence
from dataclasses import field

from stockman.crypto.age import files as age
from stockman.crypto.age.identities import AgeIdentity
from stockman.crypto.age.recipients import parse_recipient
from stockman.crypto.sops import problems
from stockman.crypto.sops.forms import FileFormat, file_format, parse_encrypted
from stockman.crypto.sops.metadata import AgeKey, Metadata, read_metadata
from stockman.crypto.sops.problems import Location
from stockman.crypto.sops.scalars import CommentText, SopsValue, is_text, value_bytes
from stockman.crypto.sops.slots import Slot, compute_mac, walk_slots
from stockman.crypto.sops.text_edits import item_to_comment, json_text, remove_entry, yaml_text
from stockman.crypto.sops.tree import (
    METADATA_KEY,
    ParsedFile,
    SopsComment,
    SopsMapping,
    SopsScalar,
    TextEdit,
    apply_edits,
)
from stockman.crypto.sops.values import ValueCipher, looks_encrypted
from stockman.model.errors import Denied, StockmanError
from stockman.model.record import record

_KEY_SIZES = (16, 24, 32)


def wrap_data_key(
    data_key: bytes, recipients: Iterable[str], random_bytes: Callable[[int], bytes], where: str
) -> tuple[AgeKey, ...]:
    """Encrypt the data key for each recipient separately, in order, without duplicates."""
    return tuple(
        AgeKey(
            recipient=text,
            enc=age.encrypt(
                data_key, [parse_recipient(text, where)], random_bytes, armor=True
            ).decode("ascii"),
        )
        for text in dict.fromkeys(recipients)
    )


def unwrap_data_key(
    metadata: Metadata, identities: Sequence[AgeIdentity], where: Location
) -> bytes:
    """Return the data key, trying each wrapped key with each identity."""
    broken: StockmanError | None = None
    for key in metadata.age:
        try:
            data_key = age.decrypt(key.enc.encode(), identities, str(where))
        except Denied:
            continue
        except StockmanError as error:
            broken = error
            continue
        if len(data_key) not in _KEY_SIZES:
            raise problems.bad_metadata(where, "its data key has a length that is never used")
        return data_key
    if broken is not None:
        raise broken
    raise problems.no_matching_identity(where, len(metadata.age), len(identities))


@record
class DecryptedFile:
    """A decrypted file with a valid MAC."""

    form: FileFormat
    parsed: ParsedFile
    metadata: Metadata
    data_key: bytes = field(repr=False)
    slots: list[Slot]


def file_metadata(content: bytes, file: str) -> Metadata:
    """Return the metadata of a file; needs no identity and verifies nothing."""
    return sheet_metadata(parse_encrypted(content, file_format(file), file))


def open_file(content: bytes, file: str, identities: Sequence[AgeIdentity]) -> DecryptedFile:
    """Decrypt a file with any matching identity; raises if it was tampered with."""
    return open_file_with(content, file, lambda recipients: identities)


def open_file_with(
    content: bytes, file: str, identities_for: Callable[[Sequence[str]], Sequence[AgeIdentity]]
) -> DecryptedFile:
    """Decrypt a file with identities that are looked up by its recipients."""
    form = file_format(file)
    sheet = parse_encrypted(content, form, file)
    metadata = sheet_metadata(sheet)
    data_key = unwrap_data_key(metadata, identities_for(metadata.recipients), file)
    cipher = ValueCipher(data_key)
    slots = list(walk_slots(sheet.documents, metadata.selector.compile()))
    paths = _comment_paths(slots)
    for slot in slots:
        if slot.encrypted:
            _decrypt_slot(slot, cipher, sheet, paths)
    _verify_mac(slots, metadata, cipher, file)
    return DecryptedFile(form=form, parsed=sheet, metadata=metadata, data_key=data_key, slots=slots)


def sheet_metadata(sheet: ParsedFile) -> Metadata:
    """Return the metadata of the first document of a file."""
    entry = sheet.documents[0].root.entry(METADATA_KEY) if sheet.documents else None
    if entry is None:
        raise problems.not_encrypted(sheet.file)
    where = sheet.position(entry.start)
    if not isinstance(entry.node, SopsMapping):
        raise problems.bad_metadata(where, "it is no mapping")
    return read_metadata(entry.node, where)


def _decrypt_slot(slot: Slot, cipher: ValueCipher, sheet: ParsedFile, paths: set[str]) -> None:
    if isinstance(slot.node, SopsScalar):
        slot.value = _decrypt_scalar(slot.node, slot.bound_path, cipher, sheet)
        return
    text = _decrypt_comment(slot.node.text, [slot.bound_path, *sorted(paths)], cipher)
    # As in SOPS, a comment that does not open was written by hand and stays as it is.
    slot.encrypted = text is not None
    if text is not None:
        slot.value = CommentText(text)


def _comment_paths(slots: list[Slot]) -> set[str]:
    """Return every path that a comment could be bound to: some were written at another depth."""
    paths = {":"}
    for slot in slots:
        steps = slot.bound_path.split(":")
        paths |= {":".join(steps[:depth]) + ":" for depth in range(1, len(steps))}
    return paths


def _decrypt_scalar(
    leaf: SopsScalar, bound_to: str, cipher: ValueCipher, sheet: ParsedFile
) -> SopsValue:
    if not isinstance(leaf.value, str):
        raise problems.bad_value(sheet.position(leaf.start), "it is not encrypted, and has to be")
    try:
        return cipher.decrypt(leaf.value, bound_to)
    except ValueError as error:
        raise problems.bad_value(sheet.position(leaf.start), str(error)) from None


def _decrypt_comment(text: str, paths: list[str], cipher: ValueCipher) -> str | None:
    if not text:
        return ""
    if not looks_encrypted(text):
        return None
    for path in paths:
        try:
            value = cipher.decrypt(text, path)
        except ValueError:
            continue
        if isinstance(value, CommentText | str):
            return value if isinstance(value, str) else value.text
    return None


def _verify_mac(slots: list[Slot], metadata: Metadata, cipher: ValueCipher, file: str) -> None:
    try:
        expected = cipher.decrypt(metadata.mac, metadata.moment)
    except ValueError:
        raise problems.bad_mac(
            file, "its check sum does not open with its data key and time"
        ) from None
    computed = compute_mac(slots, only_encrypted=metadata.only_encrypted)
    if (
        not isinstance(expected, str)
        or not is_text(expected)
        or not _equal_constant_time(expected, computed)
    ):
        raise problems.bad_mac(file, "its values do not give the check sum that it holds")


def _equal_constant_time(left: str, right: str) -> bool:
    return hmac.compare_digest(left.encode(), right.encode())


def plaintext(file: DecryptedFile) -> bytes:
    """Return the plaintext of a file; everything that is not encrypted keeps its bytes."""
    if file.form is FileFormat.BINARY:
        return value_bytes(_binary_content(file))
    edits = [edit for slot in file.slots if slot.encrypted for edit in _plaintext_edits(slot, file)]
    for document in file.parsed.documents:
        entry = document.root.entry(METADATA_KEY)
        if entry is not None:
            edits.append(remove_entry(file.parsed, document, entry))
    return apply_edits(file.parsed.text, edits).encode()


def _binary_content(file: DecryptedFile) -> SopsValue:
    entry = file.parsed.documents[0].root.entry("data")
    for slot in file.slots:
        if entry is not None and slot.node is entry.node and isinstance(slot.value, str):
            return slot.value
    raise problems.bad_syntax(file.parsed.file, "it holds no text under `data`")


def _plaintext_edits(slot: Slot, file: DecryptedFile) -> list[TextEdit]:
    node, value = slot.node, slot.value
    if isinstance(node, SopsComment):
        return [TextEdit(node.start + 1, node.end, _comment_content(value))]
    if isinstance(value, CommentText):
        return item_to_comment(file.parsed, slot.parent, node, value.text)
    if value == "":
        return []
    return [scalar_edit(file.parsed, file.form, node, value)]


def scalar_edit(
    sheet: ParsedFile, form: FileFormat, leaf: SopsScalar, value: SopsValue
) -> TextEdit:
    """Return the edit that replaces a value with its plaintext."""
    if isinstance(value, str) and not is_text(value):
        raise problems.unsupported(
            sheet.position(leaf.start), "a text that is not UTF-8", "keep it in a binary file"
        )
    if form is not FileFormat.YAML:
        return TextEdit(leaf.start, leaf.end, json_text(value))
    line_end = sheet.text.find("\n", leaf.end)
    behind = sheet.text[leaf.end : line_end if line_end >= 0 else len(sheet.text)]
    text = yaml_text(value, leaf, ends_line=not behind.strip())
    return TextEdit(leaf.start, leaf.end, text)


def _comment_content(value: SopsValue) -> str:
    return value.text if isinstance(value, CommentText) else str(value)
