"""Changing an encrypted file so that nothing changes but what has to.

A value that is still there keeps its ciphertext; a file that says the same stays byte for byte.
"""

from __future__ import annotations

from collections.abc import Sequence

from stockman.crypto.age.identities import Identity
from stockman.crypto.sops.edits import Edit, edited
from stockman.crypto.sops.files import plain_tree, written
from stockman.crypto.sops.forms import Form, quoted
from stockman.crypto.sops.metadata import Metadata
from stockman.crypto.sops.opening import Opened, opened
from stockman.crypto.sops.outline import outline
from stockman.crypto.sops.placing import entry_replaced
from stockman.crypto.sops.recipe import DEFAULT_INDENT
from stockman.crypto.sops.revealing import leaf_edit
from stockman.crypto.sops.scalars import Remark, Value, same
from stockman.crypto.sops.sealing import Fresh, Sealer, Stash, sealed_leaf
from stockman.crypto.sops.tree import METADATA_KEY, Branch, Document, Leaf
from stockman.crypto.sops.walking import Slot, slots


def reencrypt(
    content: bytes, plain: bytes, file: str, identities: Sequence[Identity], fresh: Fresh
) -> bytes:
    """The file with a new plaintext.

    The same values give the same bytes. Where only values differ, only they, the check sum and
    the time change. Where keys come, go or move, the layout of the new plaintext is taken, and
    ciphertext of values that stay is kept.
    """
    old = opened(content, file, identities)
    new = plain_tree(plain, old.form, file)
    found = list(slots(new.documents, old.metadata.selector.compiled()))
    if outline(old.sheet.documents, old.slots) != outline(new.documents, found):
        sealer = Sealer(old.data_key, fresh, Stash(old))
        return written(new, old.form, sealer, old.metadata, _indent(old))
    changed = [
        (before, after.value)
        for before, after in zip(_values(old.slots), _values(found), strict=True)
        if not same(before.value, after.value)
    ]
    return replaced(old, changed, fresh) if changed else content


def replaced(old: Opened, changed: Sequence[tuple[Slot, Value]], fresh: Fresh) -> bytes:
    """The file with other values at some places, and all else as it was."""
    sealer = Sealer(old.data_key, fresh)
    edits: list[Edit] = []
    for slot, value in changed:
        slot.value = value
        if isinstance(slot.node, Leaf):
            edits.append(_value_edit(old, slot, slot.node, sealer))
    signed = sealer.signed(old.slots, old.metadata)
    for document in old.sheet.documents:
        edits += _signature_edits(old, document, signed)
    return edited(old.sheet.text, edits).encode()


def _value_edit(old: Opened, slot: Slot, leaf: Leaf, sealer: Sealer) -> Edit:
    sealed = sealer.sealed(slot) if slot.encrypted else ""
    if sealed:
        return sealed_leaf(leaf, sealed)
    if slot.encrypted:
        return Edit(leaf.start, leaf.end, '""')
    return leaf_edit(old.sheet, old.form, leaf, slot.value)


def _signature_edits(old: Opened, document: Document, signed: Metadata) -> list[Edit]:
    entry = document.root.entry(METADATA_KEY)
    if entry is None:
        return []
    time = _leaf(entry.node, "lastmodified")
    mac = _leaf(entry.node, "mac")
    if time is None or mac is None:
        return [entry_replaced(old.sheet, document, entry, old.form, signed)]
    return [
        Edit(time.start, time.end, quoted(signed.lastmodified)),
        sealed_leaf(mac, signed.mac),
    ]


def _leaf(node: object, key: str) -> Leaf | None:
    entry = node.entry(key) if isinstance(node, Branch) else None
    return entry.node if entry is not None and isinstance(entry.node, Leaf) else None


def _values(found: list[Slot]) -> list[Slot]:
    return [slot for slot in found if not isinstance(slot.value, Remark)]


def _indent(old: Opened) -> int:
    """How far the `sops` entry of a YAML file is indented."""
    root = old.sheet.documents[0].root
    entry = root.entry(METADATA_KEY)
    if old.form is Form.YAML and entry is not None and isinstance(entry.node, Branch):
        return max(entry.node.column - root.column, 2)
    return DEFAULT_INDENT
