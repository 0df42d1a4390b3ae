"""Check that encrypted files are encrypted completely and for the right recipients."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from stockman.app.secrets.store import Rules
from stockman.app.secrets_check.report import NotScanned
from stockman.crypto.sops.files import sheet_metadata
from stockman.crypto.sops.forms import file_format, parse_encrypted
from stockman.crypto.sops.metadata import Metadata
from stockman.crypto.sops.selectors import Selector
from stockman.crypto.sops.tree import ParsedFile, SopsScalar
from stockman.crypto.sops.values import Slot, looks_encrypted, walk_slots
from stockman.model.errors import NotFound, StockmanError
from stockman.model.problem import Problem

TEMPLATES = (".j2", ".jinja", ".tpl", ".tmpl", ".gotmpl")
"""Suffixes of templates for encrypted files, which contain names instead of values."""
_OTHERS = ("sops.form", "sops.key-group", "sops.kms", "sops.pgp")
"""Encryption methods that only SOPS handles."""
_MOST = 10
"""Maximum number of plain values listed for one file."""
_SHOWN = 24


class _Reason(NamedTuple):
    why: str
    fix: str


_BY_HAND = _Reason(
    "it was written into the file by hand, and whoever can read the file can read it",
    "restore the file from git, and change it with `stockman secrets edit`",
)
_BY_RULE = _Reason(
    "the rule of .sops.yaml wants it encrypted, and the file was made by an older rule",
    "print the content with `stockman secrets get`, remove the file, and make it anew by its rule"
    " with `stockman secrets set`",
)


class EncryptedFileCheck:
    """Checks files one by one and records what it could not check."""

    def __init__(self, rules: Rules | None) -> None:
        self._rules = rules
        self.not_checked: list[NotScanned] = []

    def problems(self, name: str, content: bytes) -> Iterator[Problem]:
        """Return all problems of one file; needs no identity."""
        if name.endswith(TEMPLATES):
            return
        try:
            sheet = parse_encrypted(content, file_format(name), name)
            metadata = sheet_metadata(sheet)
        except StockmanError as error:
            if error.problem.code in _OTHERS:
                self.not_checked.append(NotScanned(subject=name, why=error.problem.what))
            else:
                yield error.problem
            return
        recipients = None
        if self._rules is not None:
            try:
                recipients = self._rules.rule_for(name).recipe
            except NotFound as error:
                yield error.problem
        clear: dict[int, tuple[str, _Reason]] = {}
        if recipients is not None and recipients.selector != metadata.selector:
            clear |= _clear_values(sheet, recipients.selector, _BY_RULE)
        clear |= _clear_values(sheet, metadata.selector, _BY_HAND)
        for start in islice(sorted(clear), _MOST):
            yield _plain_values(sheet, start, *clear[start])
        if len(clear) > _MOST:
            why = f"{len(clear) - _MOST} more values stand in the clear"
            self.not_checked.append(NotScanned(subject=name, why=why))
        if recipients is not None and set(recipients.recipients) != set(metadata.recipients):
            yield _other_recipients(name, metadata, recipients.recipients)


def _clear_values(
    sheet: ParsedFile, selector: Selector, reason: _Reason
) -> dict[int, tuple[str, _Reason]]:
    """Return positions and names of plain values that a selector requires to be encrypted."""
    return {
        slot.node.start: (slot.bound_path.strip(":").replace(":", "."), reason)
        for slot in walk_slots(sheet.documents, selector.compile())
        if slot.encrypted and isinstance(slot.node, SopsScalar) and not _is_encrypted_value(slot)
    }


def _is_encrypted_value(slot: Slot) -> bool:
    """Whether a value is encrypted or empty; SOPS leaves empty texts as they are."""
    return isinstance(slot.value, str) and (not slot.value or looks_encrypted(slot.value))


def _plain_values(sheet: ParsedFile, start: int, path: str, reason: _Reason) -> Problem:
    return Problem(
        code="leak.clear-value",
        what=f"{path} of an encrypted file stands in the clear",
        where=sheet.position(start),
        why=reason.why,
        fix=f"{reason.fix}; if the value was committed or shared, change the secret too",
    )


def _other_recipients(name: str, metadata: Metadata, expected: tuple[str, ...]) -> Problem:
    missing = [
        _short_recipient(recipient)
        for recipient in expected
        if recipient not in metadata.recipients
    ]
    extra = [
        _short_recipient(recipient)
        for recipient in metadata.recipients
        if recipient not in expected
    ]
    reasons = []
    if missing:
        reasons.append(f"{', '.join(missing)} cannot open it")
    if extra:
        reasons.append(f"{', '.join(extra)} can, and the rule does not name them")
    return Problem(
        code="leak.recipients",
        what=f"{name} is encrypted for others than its rule says",
        where=name,
        why="; ".join(reasons),
        fix="run `stockman secrets rekey`"
        + ("; who could read it knows the values, so change these too" if extra else ""),
    )


def _short_recipient(recipient: str) -> str:
    """Shorten a public key: post-quantum keys have 1,959 characters."""
    if len(recipient) <= 64:
        return recipient
    return f"{recipient[:_SHOWN]}...{recipient[-8:]}"
