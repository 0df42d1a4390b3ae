"""Encrypting a tree into its text: values and comments are replaced where they stand."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterable
from datetime import datetime

from stockman.crypto.sops import problems
from stockman.crypto.sops.edits import Edit
from stockman.crypto.sops.forms import quoted
from stockman.crypto.sops.metadata import AgeKey, Metadata, moment_text
from stockman.crypto.sops.opening import Opened
from stockman.crypto.sops.placing import comment_as_item
from stockman.crypto.sops.scalars import Remark, Value, kind_of, value_bytes
from stockman.crypto.sops.selectors import Matcher, Selector
from stockman.crypto.sops.tree import Items, Leaf, Note, Sheet
from stockman.crypto.sops.values import Cipher
from stockman.crypto.sops.walking import Slot, check_sum
from stockman.model.record import record


@record
class Fresh:
    """What new ciphertext needs from outside: the time, and bytes nobody can foretell."""

    now: datetime
    random_bytes: Callable[[int], bytes]


class Stash:
    """Ciphertext of a file as it was: a value that is still there keeps its bytes."""

    def __init__(self, file: Opened | None = None) -> None:
        self._kept: dict[tuple[str, str, bytes], deque[str]] = defaultdict(deque)
        for slot in file.slots if file else ():
            if slot.encrypted:
                self._kept[_key(slot)].append(_ciphertext(slot.node))

    def take(self, slot: Slot) -> str | None:
        kept = self._kept.get(_key(slot))
        return kept.popleft() if kept else None


class Sealer:
    """Seals the values of one file, with kept ciphertext where there is any."""

    def __init__(self, data_key: bytes, fresh: Fresh, stash: Stash | None = None) -> None:
        self._cipher = Cipher(data_key)
        self._fresh = fresh
        self._stash = stash or Stash()

    def sealed(self, slot: Slot) -> str:
        kept = self._stash.take(slot)
        if kept is not None:
            return kept
        return self._cipher.seal(slot.value, slot.bound_to, self._fresh.random_bytes)

    def signed(self, slots: Iterable[Slot], old: Metadata) -> Metadata:
        """The metadata with the check sum of these values, at this time."""
        moment = moment_text(self._fresh.now)
        mac = check_sum(slots, only_encrypted=old.only_encrypted)
        return Metadata(
            age=old.age,
            lastmodified=moment,
            mac=self._cipher.seal(mac, moment, self._fresh.random_bytes),
            selector=old.selector,
            only_encrypted=old.only_encrypted,
            version=old.version,
        )


def unsigned(keys: tuple[AgeKey, ...], selector: Selector, *, only_encrypted: bool) -> Metadata:
    """Metadata of a new file, before its check sum is known."""
    return Metadata(
        age=keys, lastmodified="", mac="", selector=selector, only_encrypted=only_encrypted
    )


def sealing_edits(sheet: Sheet, slots: list[Slot], sealer: Sealer, matcher: Matcher) -> list[Edit]:
    """The edits that encrypt every value and comment that the selector chose."""
    edits: list[Edit] = []
    for slot in slots:
        if not slot.encrypted:
            continue
        text = sealer.sealed(slot)
        if not text:
            continue
        if isinstance(slot.node, Note) and _would_select(matcher, text):
            raise problems.bad_regex(
                sheet.position(slot.node.start),
                "unencrypted_comment_regex",
                "it matches the ciphertext of a comment too",
            )
        edits += _edits(sheet, slot, text)
    return edits


def _edits(sheet: Sheet, slot: Slot, text: str) -> list[Edit]:
    node = slot.node
    if isinstance(node, Leaf):
        return [sealed_leaf(node, text)]
    if isinstance(slot.parent, Items):
        return comment_as_item(sheet, slot.parent, node, text)
    if node.tail:
        return [Edit(node.start, node.end, f" #{text}")]
    return [Edit(node.start + 1, node.end, text)]


def sealed_leaf(leaf: Leaf, text: str) -> Edit:
    """Ciphertext at the place of a value."""
    return Edit(leaf.start, leaf.end, quoted(text) if leaf.flow else text)


def _would_select(matcher: Matcher, text: str) -> bool:
    return matcher.selector.name == "unencrypted_comment_regex" and matcher.matches(text)


def _key(slot: Slot) -> tuple[str, str, bytes]:
    value: Value = slot.value
    if isinstance(slot.node, Note) and not isinstance(value, Remark):
        value = Remark(str(value))
    return slot.bound_to, kind_of(value), value_bytes(value)


def _ciphertext(node: Leaf | Note) -> str:
    return node.text if isinstance(node, Note) else str(node.value)
