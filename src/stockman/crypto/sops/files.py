"""Encrypt, decrypt, rotate and rekey whole files in memory."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime

from stockman.crypto.age.identities import AgeIdentity
from stockman.crypto.sops import problems
from stockman.crypto.sops.decryption import (
    DecryptedFile,
    open_file,
    sheet_metadata,
    unwrap_data_key,
    wrap_data_key,
)
from stockman.crypto.sops.forms import (
    FileFormat,
    file_format,
    json_quote,
    parse_encrypted,
    parse_plaintext,
)
from stockman.crypto.sops.metadata import AgeKey, Metadata, format_time
from stockman.crypto.sops.scalars import CommentText, SopsValue, value_bytes, value_type
from stockman.crypto.sops.selectors import ENCRYPT_ALL, EncryptionSettings, Matcher, Selector
from stockman.crypto.sops.slots import Slot, compute_mac, walk_slots
from stockman.crypto.sops.text_edits import add_entry, comment_to_item, replace_entry
from stockman.crypto.sops.tree import (
    METADATA_KEY,
    ParsedFile,
    SopsComment,
    SopsScalar,
    SopsSequence,
    TextEdit,
    apply_edits,
)
from stockman.crypto.sops.values import DATA_KEY_BYTES, ValueCipher
from stockman.model.errors import StockmanError
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
        return Metadata(
            age=old.age,
            lastmodified=moment,
            mac=self._cipher.encrypt(mac, moment, self._fresh.random_bytes),
            selector=old.selector,
            only_encrypted=old.only_encrypted,
            version=old.version,
        )


def new_metadata(keys: tuple[AgeKey, ...], selector: Selector, *, only_encrypted: bool) -> Metadata:
    """Return the metadata of a new file, without a MAC."""
    return Metadata(
        age=keys, lastmodified="", mac="", selector=selector, only_encrypted=only_encrypted
    )


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
    return TextEdit(leaf.start, leaf.end, json_quote(text) if leaf.flow else text)


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
    metadata = new_metadata(
        wrap_data_key(data_key, recipe.recipients, fresh.random_bytes, file),
        selector,
        only_encrypted=recipe.only_encrypted,
    )
    sheet = parse_unencrypted(plain, form, file)
    return render_encrypted(sheet, form, ValueEncryptor(data_key, fresh), metadata, recipe.indent)


def decrypt(content: bytes, file: str, identities: Sequence[AgeIdentity]) -> bytes:
    """Return the plaintext of a file after verifying its MAC."""
    from stockman.crypto.sops.decryption import plaintext

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
    metadata = sealer.sign(old.slots, _with_keys(old.metadata, keys))
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
    return _replace_metadata(sheet, form, _with_keys(metadata, keys), [])


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


def _with_keys(metadata: Metadata, keys: tuple[AgeKey, ...]) -> Metadata:
    return Metadata(
        age=keys,
        lastmodified=metadata.lastmodified,
        mac=metadata.mac,
        selector=metadata.selector,
        only_encrypted=metadata.only_encrypted,
        version=metadata.version,
    )
