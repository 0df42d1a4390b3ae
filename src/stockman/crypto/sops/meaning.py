"""What a plaintext means, whatever its layout: equal for two that `reencrypt` calls the same."""

from __future__ import annotations

from collections.abc import Iterator

from stockman.crypto.sops.forms import Form, form_of, plain_sheet
from stockman.crypto.sops.outline import outline
from stockman.crypto.sops.scalars import Remark, kind_of, value_bytes
from stockman.crypto.sops.selectors import EVERYTHING
from stockman.crypto.sops.walking import slots


def meaning(plain: bytes, file: str) -> bytes:
    """Keys, comments and typed values in order; of a binary file, its bytes."""
    form = form_of(file)
    if form is Form.BINARY:
        return plain
    sheet = plain_sheet(plain, form, file)
    found = list(slots(sheet.documents, EVERYTHING.compiled()))

    def pieces() -> Iterator[bytes]:
        for kind, text in outline(sheet.documents, found):
            yield kind.encode()
            yield text.encode()
        for slot in found:
            if not isinstance(slot.value, Remark):
                yield kind_of(slot.value).encode()
                yield value_bytes(slot.value)

    return b"".join(len(piece).to_bytes(8, "big") + piece for piece in pieces())
