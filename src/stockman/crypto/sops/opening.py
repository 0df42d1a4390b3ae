"""An encrypted file, opened: its values, proven to be those that were encrypted."""

from __future__ import annotations

import hmac
from collections.abc import Callable, Sequence
from dataclasses import field

from stockman.crypto.age.identities import Identity
from stockman.crypto.sops import problems
from stockman.crypto.sops.forms import Form, encrypted_sheet, form_of
from stockman.crypto.sops.keys import unwrapped_key
from stockman.crypto.sops.metadata import Metadata, read_metadata
from stockman.crypto.sops.scalars import Remark, Value, is_text
from stockman.crypto.sops.tree import METADATA_KEY, Branch, Leaf, Sheet
from stockman.crypto.sops.values import Cipher, looks_encrypted
from stockman.crypto.sops.walking import Slot, check_sum, slots
from stockman.model.record import record


@record
class Opened:
    """A file whose check sum was found right."""

    form: Form
    sheet: Sheet
    metadata: Metadata
    data_key: bytes = field(repr=False)
    slots: list[Slot]


def file_metadata(content: bytes, file: str) -> Metadata:
    """What a file says about its encryption; needs no identity and proves nothing."""
    return sheet_metadata(encrypted_sheet(content, form_of(file), file))


def opened(content: bytes, file: str, identities: Sequence[Identity]) -> Opened:
    """Open a file with whichever identity fits; refuses everything that was tampered with."""
    return opened_by(content, file, lambda recipients: identities)


def opened_by(
    content: bytes, file: str, identities_for: Callable[[Sequence[str]], Sequence[Identity]]
) -> Opened:
    """The same, with identities that are found once it is known for whom it was encrypted."""
    form = form_of(file)
    sheet = encrypted_sheet(content, form, file)
    metadata = sheet_metadata(sheet)
    data_key = unwrapped_key(metadata, identities_for(metadata.recipients), file)
    cipher = Cipher(data_key)
    found = list(slots(sheet.documents, metadata.selector.compiled()))
    paths = _prefixes(found)
    for slot in found:
        if slot.encrypted:
            _open(slot, cipher, sheet, paths)
    _check(found, metadata, cipher, file)
    return Opened(form=form, sheet=sheet, metadata=metadata, data_key=data_key, slots=found)


def sheet_metadata(sheet: Sheet) -> Metadata:
    """What the first document of a file says about its encryption."""
    entry = sheet.documents[0].root.entry(METADATA_KEY) if sheet.documents else None
    if entry is None:
        raise problems.not_encrypted(sheet.file)
    where = sheet.position(entry.start)
    if not isinstance(entry.node, Branch):
        raise problems.bad_metadata(where, "it is no mapping")
    return read_metadata(entry.node, where)


def _open(slot: Slot, cipher: Cipher, sheet: Sheet, paths: set[str]) -> None:
    if isinstance(slot.node, Leaf):
        slot.value = _leaf_value(slot.node, slot.bound_to, cipher, sheet)
        return
    found = _comment(slot.node.text, [slot.bound_to, *sorted(paths)], cipher)
    # As in SOPS, a comment that does not open was written by hand and stays as it is.
    slot.encrypted = found is not None
    if found is not None:
        slot.value = Remark(found)


def _prefixes(found: list[Slot]) -> set[str]:
    """Every path that a comment could be bound to: some were written at another depth."""
    paths = {":"}
    for slot in found:
        steps = slot.bound_to.split(":")
        paths |= {":".join(steps[:depth]) + ":" for depth in range(1, len(steps))}
    return paths


def _leaf_value(leaf: Leaf, bound_to: str, cipher: Cipher, sheet: Sheet) -> Value:
    if not isinstance(leaf.value, str):
        raise problems.bad_value(sheet.position(leaf.start), "it is not encrypted, and has to be")
    try:
        return cipher.open(leaf.value, bound_to)
    except ValueError as error:
        raise problems.bad_value(sheet.position(leaf.start), str(error)) from None


def _comment(text: str, paths: list[str], cipher: Cipher) -> str | None:
    if not text:
        return ""
    if not looks_encrypted(text):
        return None
    for path in paths:
        try:
            value = cipher.open(text, path)
        except ValueError:
            continue
        if isinstance(value, Remark | str):
            return value if isinstance(value, str) else value.text
    return None


def _check(found: list[Slot], metadata: Metadata, cipher: Cipher, file: str) -> None:
    try:
        expected = cipher.open(metadata.mac, metadata.moment)
    except ValueError:
        raise problems.bad_mac(
            file, "its check sum does not open with its data key and time"
        ) from None
    computed = check_sum(found, only_encrypted=metadata.only_encrypted)
    if not isinstance(expected, str) or not is_text(expected) or not _equal(expected, computed):
        raise problems.bad_mac(file, "its values do not give the check sum that it holds")


def _equal(one: str, other: str) -> bool:
    return hmac.compare_digest(one.encode(), other.encode())
