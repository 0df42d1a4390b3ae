"""Encrypt, decrypt, rotate and rekey whole files in memory."""

from __future__ import annotations

import hmac
import json
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import field, replace
from datetime import datetime

from stockman.crypto.age import files as age
from stockman.crypto.age.identities import AgeIdentity, parse_recipient
from stockman.crypto.sops import problems
from stockman.crypto.sops.forms import (
    FileFormat,
    file_format,
    parse_encrypted,
    parse_plaintext,
)
from stockman.crypto.sops.metadata import AgeKey, Metadata, format_time, read_metadata
from stockman.crypto.sops.problems import Location
from stockman.crypto.sops.scalars import CommentText, SopsValue, is_text, value_bytes, value_type
from stockman.crypto.sops.selectors import ENCRYPT_ALL, EncryptionSettings, Matcher
from stockman.crypto.sops.text_edits import (
    add_entry,
    comment_to_item,
    item_to_comment,
    json_text,
    remove_entry,
    replace_entry,
    yaml_text,
)
from stockman.crypto.sops.tree import (
    METADATA_KEY,
    ParsedFile,
    SopsComment,
    SopsMapping,
    SopsScalar,
    SopsSequence,
    TextEdit,
    apply_edits,
)
from stockman.crypto.sops.values import (
    DATA_KEY_BYTES,
    Slot,
    ValueCipher,
    compute_mac,
    looks_encrypted,
    walk_slots,
)
from stockman.model.errors import Denied, StockmanError
from stockman.model.record import record


@record
class EncryptionInputs:
    """Time and random bytes for new ciphertext."""

    now: datetime
    random_bytes: Callable[[int], bytes]


class CiphertextCache:
    """Ciphertext of an existing file, so that unchanged values keep their bytes."""

    def __init__(self, file: DecryptedFile | None = None) -> None:
        self._kept: dict[tuple[str, str, bytes], deque[str]] = defaultdict(deque)
        for slot in file.slots if file else ():
            if slot.encrypted:
                self._kept[_cache_key(slot)].append(_ciphertext(slot.node))

    def take(self, slot: Slot) -> str | None:
        """Return and remove the ciphertext of an unchanged value; None: there is none."""
        kept = self._kept.get(_cache_key(slot))
        return kept.popleft() if kept else None


class ValueEncryptor:
    """Encrypts the values of one file, reusing cached ciphertext."""

    def __init__(
        self, data_key: bytes, fresh: EncryptionInputs, stash: CiphertextCache | None = None
    ) -> None:
        self._cipher = ValueCipher(data_key)
        self._fresh = fresh
        self._stash = stash or CiphertextCache()

    def encrypt(self, slot: Slot) -> str:
        """Return the ciphertext of a value."""
        kept = self._stash.take(slot)
        if kept is not None:
            return kept
        return self._cipher.encrypt(slot.value, slot.bound_path, self._fresh.random_bytes)

    def sign(self, slots: Iterable[Slot], old: Metadata) -> Metadata:
        """Return the metadata with the MAC of the given values and the current time."""
        moment = format_time(self._fresh.now)
        mac = compute_mac(slots, only_encrypted=old.only_encrypted)
        encrypted_mac = self._cipher.encrypt(mac, moment, self._fresh.random_bytes)
        return replace(old, lastmodified=moment, mac=encrypted_mac)


def encryption_edits(
    sheet: ParsedFile, slots: list[Slot], sealer: ValueEncryptor, matcher: Matcher
) -> list[TextEdit]:
    """Return the edits that encrypt all selected values and comments."""
    edits: list[TextEdit] = []
    for slot in slots:
        if not slot.encrypted:
            continue
        text = sealer.encrypt(slot)
        if not text:
            continue
        if isinstance(slot.node, SopsComment) and _would_select(matcher, text):
            raise problems.bad_regex(
                sheet.position(slot.node.start),
                "unencrypted_comment_regex",
                "it matches the ciphertext of a comment too",
            )
        edits += _slot_edits(sheet, slot, text)
    return edits


def _slot_edits(sheet: ParsedFile, slot: Slot, text: str) -> list[TextEdit]:
    node = slot.node
    if isinstance(node, SopsScalar):
        return [ciphertext_edit(node, text)]
    if isinstance(slot.parent, SopsSequence):
        return comment_to_item(sheet, slot.parent, node, text)
    if node.tail:
        return [TextEdit(node.start, node.end, f" #{text}")]
    return [TextEdit(node.start + 1, node.end, text)]


def ciphertext_edit(leaf: SopsScalar, text: str) -> TextEdit:
    """Return the edit that replaces a value with its ciphertext."""
    return TextEdit(leaf.start, leaf.end, json.dumps(text) if leaf.flow else text)


def _would_select(matcher: Matcher, text: str) -> bool:
    return matcher.selector.name == "unencrypted_comment_regex" and matcher.matches(text)


def _cache_key(slot: Slot) -> tuple[str, str, bytes]:
    value: SopsValue = slot.value
    if isinstance(slot.node, SopsComment) and not isinstance(value, CommentText):
        value = CommentText(str(value))
    return slot.bound_path, value_type(value), value_bytes(value)


def _ciphertext(node: SopsScalar | SopsComment) -> str:
    return node.text if isinstance(node, SopsComment) else str(node.value)


def encrypt(plain: bytes, file: str, recipe: EncryptionSettings, fresh: EncryptionInputs) -> bytes:
    """Encrypt a new file; its name determines the format. Unselected parts keep their bytes."""
    if not recipe.recipients:
        raise ValueError("a file needs a recipient")
    form = file_format(file)
    data_key = fresh.random_bytes(DATA_KEY_BYTES)
    selector = ENCRYPT_ALL if form is FileFormat.BINARY else recipe.selector
    metadata = Metadata(
        age=wrap_data_key(data_key, recipe.recipients, fresh.random_bytes, file),
        lastmodified="",
        mac="",
        selector=selector,
        only_encrypted=recipe.only_encrypted,
    )
    sheet = parse_unencrypted(plain, form, file)
    return render_encrypted(sheet, form, ValueEncryptor(data_key, fresh), metadata, recipe.indent)


def decrypt(content: bytes, file: str, identities: Sequence[AgeIdentity]) -> bytes:
    """Return the plaintext of a file after verifying its MAC."""
    return plaintext(open_file(content, file, identities))


def rotate(
    content: bytes, file: str, identities: Sequence[AgeIdentity], fresh: EncryptionInputs
) -> bytes:
    """Encrypt all values with a new data key, for the same recipients."""
    old = open_file(content, file, identities)
    data_key = fresh.random_bytes(DATA_KEY_BYTES)
    keys = wrap_data_key(data_key, old.metadata.recipients, fresh.random_bytes, file)
    sealer = ValueEncryptor(data_key, fresh)
    edits = _reencryption_edits(old, sealer)
    metadata = sealer.sign(old.slots, replace(old.metadata, age=keys))
    return _replace_metadata(old.parsed, old.form, metadata, edits)


def rekey(
    content: bytes,
    file: str,
    identities: Sequence[AgeIdentity],
    recipients: Sequence[str],
    fresh: EncryptionInputs,
) -> bytes:
    """Change the recipients and keep the ciphertext, like `sops updatekeys`.

    The data key does not change: somebody who could read the file before can still decrypt this
    ciphertext, so use `rotate` as well after removing a recipient. Entries of remaining recipients
    are unchanged.
    """
    unique = tuple(dict.fromkeys(recipients))
    form = file_format(file)
    sheet = parse_encrypted(content, form, file)
    metadata = sheet_metadata(sheet)
    if set(unique) == set(metadata.recipients):
        return content
    kept = {key.recipient: key for key in metadata.age}
    missing = [text for text in unique if text not in kept]
    data_key = unwrap_data_key(metadata, identities, file)
    added = wrap_data_key(data_key, missing, fresh.random_bytes, file)
    kept |= {key.recipient: key for key in added}
    keys = tuple(kept[text] for text in unique)
    return _replace_metadata(sheet, form, replace(metadata, age=keys), [])


def parse_unencrypted(plain: bytes, form: FileFormat, file: str) -> ParsedFile:
    """Parse a plaintext; refuses encrypted and empty files."""
    sheet = parse_plaintext(plain, form, file)
    if not sheet.documents:
        raise problems.bad_syntax(file, "it is empty")
    for document in sheet.documents:
        entry = document.root.entry(METADATA_KEY)
        if entry is not None:
            raise problems.already_encrypted(sheet.position(entry.start))
    return sheet


def render_encrypted(
    sheet: ParsedFile, form: FileFormat, sealer: ValueEncryptor, metadata: Metadata, indent: int
) -> bytes:
    """Return the bytes of a file with its values encrypted and its metadata added."""
    matcher = metadata.selector.compile()
    slots = list(walk_slots(sheet.documents, matcher))
    edits = encryption_edits(sheet, slots, sealer, matcher)
    signed = sealer.sign(slots, metadata)
    edits += [add_entry(sheet, document, form, signed, indent) for document in sheet.documents]
    encrypted = apply_edits(sheet.text, edits).encode()
    _verify_output(encrypted, sheet.file, form, slots, matcher)
    return encrypted


def _verify_output(
    encrypted: bytes, file: str, form: FileFormat, meant: list[Slot], matcher: Matcher
) -> None:
    """Refuse to return a text that does not parse as the tree that was encrypted."""
    try:
        sheet = parse_encrypted(encrypted, form, file)
    except StockmanError:
        raise problems.bad_layout(file) from None
    read = [
        slot for slot in walk_slots(sheet.documents, matcher) if isinstance(slot.node, SopsScalar)
    ]
    paths = [slot.bound_path for slot in read if not _is_comment(slot)]
    if paths != [slot.bound_path for slot in meant if isinstance(slot.node, SopsScalar)]:
        raise problems.bad_layout(file)


def _is_comment(slot: Slot) -> bool:
    return isinstance(slot.value, str) and slot.value.endswith(",type:comment]")


def _reencryption_edits(old: DecryptedFile, sealer: ValueEncryptor) -> list[TextEdit]:
    """Return the edits that replace all ciphertext."""
    edits: list[TextEdit] = []
    for slot in old.slots:
        text = sealer.encrypt(slot) if slot.encrypted else ""
        if not text:
            continue
        if not isinstance(slot.node, SopsScalar):
            edits.append(TextEdit(slot.node.start + 1, slot.node.end, text))
        else:
            edits.append(ciphertext_edit(slot.node, text))
    return edits


def _replace_metadata(
    sheet: ParsedFile, form: FileFormat, metadata: Metadata, edits: list[TextEdit]
) -> bytes:
    for document in sheet.documents:
        entry = document.root.entry(METADATA_KEY)
        if entry is not None:
            edits.append(replace_entry(sheet, document, entry, form, metadata))
    return apply_edits(sheet.text, edits).encode()


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
        or not hmac.compare_digest(expected.encode(), computed.encode())
    ):
        raise problems.bad_mac(file, "its values do not give the check sum that it holds")


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
