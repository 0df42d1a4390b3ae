"""Encrypting, decrypting, rotating and rekeying whole files of SOPS, in memory."""

from __future__ import annotations

from collections.abc import Sequence

from stockman.crypto.age.identities import Identity
from stockman.crypto.sops import problems
from stockman.crypto.sops.edits import Edit, edited
from stockman.crypto.sops.forms import Form, encrypted_sheet, form_of, plain_sheet
from stockman.crypto.sops.keys import unwrapped_key, wrapped_keys
from stockman.crypto.sops.metadata import AgeKey, Metadata
from stockman.crypto.sops.opening import Opened, opened, sheet_metadata
from stockman.crypto.sops.placing import entry_added, entry_replaced
from stockman.crypto.sops.recipe import Recipe
from stockman.crypto.sops.sealing import Fresh, Sealer, sealed_leaf, sealing_edits, unsigned
from stockman.crypto.sops.selectors import EVERYTHING, Matcher
from stockman.crypto.sops.tree import METADATA_KEY, Leaf, Sheet
from stockman.crypto.sops.values import DATA_KEY_BYTES
from stockman.crypto.sops.walking import Slot, slots
from stockman.model.errors import StockmanError


def encrypt(plain: bytes, file: str, recipe: Recipe, fresh: Fresh) -> bytes:
    """A new file; its name tells its form. What is not encrypted keeps its bytes."""
    if not recipe.recipients:
        raise ValueError("a file needs a recipient")
    form = form_of(file)
    data_key = fresh.random_bytes(DATA_KEY_BYTES)
    selector = EVERYTHING if form is Form.BINARY else recipe.selector
    metadata = unsigned(
        wrapped_keys(data_key, recipe.recipients, fresh.random_bytes, file),
        selector,
        only_encrypted=recipe.only_encrypted,
    )
    sheet = plain_tree(plain, form, file)
    return written(sheet, form, Sealer(data_key, fresh), metadata, recipe.indent)


def decrypt(content: bytes, file: str, identities: Sequence[Identity]) -> bytes:
    """The plaintext of a file, after its check sum was found right."""
    from stockman.crypto.sops.revealing import plaintext

    return plaintext(opened(content, file, identities))


def rotate(content: bytes, file: str, identities: Sequence[Identity], fresh: Fresh) -> bytes:
    """The same values under a new data key, for the same recipients."""
    old = opened(content, file, identities)
    data_key = fresh.random_bytes(DATA_KEY_BYTES)
    keys = wrapped_keys(data_key, old.metadata.recipients, fresh.random_bytes, file)
    sealer = Sealer(data_key, fresh)
    edits = _resealed(old, sealer)
    metadata = sealer.signed(old.slots, _with_keys(old.metadata, keys))
    return _with_entry(old.sheet, old.form, metadata, edits)


def rekey(
    content: bytes,
    file: str,
    identities: Sequence[Identity],
    recipients: Sequence[str],
    fresh: Fresh,
) -> bytes:
    """The same ciphertext for other recipients, as `sops updatekeys` does it.

    The data key stays: whoever could read the file once can still read this ciphertext, so a
    recipient that must not is removed with `rotate`. Recipients that stay keep their lines.
    """
    wanted = tuple(dict.fromkeys(recipients))
    form = form_of(file)
    sheet = encrypted_sheet(content, form, file)
    metadata = sheet_metadata(sheet)
    if set(wanted) == set(metadata.recipients):
        return content
    kept = {key.recipient: key for key in metadata.age}
    missing = [text for text in wanted if text not in kept]
    data_key = unwrapped_key(metadata, identities, file)
    added = wrapped_keys(data_key, missing, fresh.random_bytes, file)
    kept |= {key.recipient: key for key in added}
    keys = tuple(kept[text] for text in wanted)
    return _with_entry(sheet, form, _with_keys(metadata, keys), [])


def plain_tree(plain: bytes, form: Form, file: str) -> Sheet:
    """The tree of a plaintext; refuses one that is encrypted already, or empty."""
    sheet = plain_sheet(plain, form, file)
    if not sheet.documents:
        raise problems.bad_syntax(file, "it is empty")
    for document in sheet.documents:
        entry = document.root.entry(METADATA_KEY)
        if entry is not None:
            raise problems.already_encrypted(sheet.position(entry.start))
    return sheet


def written(sheet: Sheet, form: Form, sealer: Sealer, metadata: Metadata, indent: int) -> bytes:
    """A plaintext tree, encrypted and signed, as the bytes of a file."""
    matcher = metadata.selector.compiled()
    found = list(slots(sheet.documents, matcher))
    edits = sealing_edits(sheet, found, sealer, matcher)
    signed = sealer.signed(found, metadata)
    edits += [entry_added(sheet, one, form, signed, indent) for one in sheet.documents]
    made = edited(sheet.text, edits).encode()
    _look_again(made, sheet.file, form, found, matcher)
    return made


def _look_again(made: bytes, file: str, form: Form, meant: list[Slot], matcher: Matcher) -> None:
    """Refuse to give out a text that does not read as the tree that was encrypted."""
    try:
        sheet = encrypted_sheet(made, form, file)
    except StockmanError:
        raise problems.bad_layout(file) from None
    read = [slot for slot in slots(sheet.documents, matcher) if isinstance(slot.node, Leaf)]
    places = [slot.bound_to for slot in read if not _is_comment(slot)]
    if places != [slot.bound_to for slot in meant if isinstance(slot.node, Leaf)]:
        raise problems.bad_layout(file)


def _is_comment(slot: Slot) -> bool:
    return isinstance(slot.value, str) and slot.value.endswith(",type:comment]")


def _resealed(old: Opened, sealer: Sealer) -> list[Edit]:
    """New ciphertext at the places of the old one."""
    edits: list[Edit] = []
    for slot in old.slots:
        text = sealer.sealed(slot) if slot.encrypted else ""
        if not text:
            continue
        if not isinstance(slot.node, Leaf):
            edits.append(Edit(slot.node.start + 1, slot.node.end, text))
        else:
            edits.append(sealed_leaf(slot.node, text))
    return edits


def _with_entry(sheet: Sheet, form: Form, metadata: Metadata, edits: list[Edit]) -> bytes:
    for document in sheet.documents:
        entry = document.root.entry(METADATA_KEY)
        if entry is not None:
            edits.append(entry_replaced(sheet, document, entry, form, metadata))
    return edited(sheet.text, edits).encode()


def _with_keys(metadata: Metadata, keys: tuple[AgeKey, ...]) -> Metadata:
    return Metadata(
        age=keys,
        lastmodified=metadata.lastmodified,
        mac=metadata.mac,
        selector=metadata.selector,
        only_encrypted=metadata.only_encrypted,
        version=metadata.version,
    )
