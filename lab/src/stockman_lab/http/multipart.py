"""A file in a form, read piece by piece: fields first, then one file up to the end of the form."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import BinaryIO

from stockman_lab.http.messages import Upload

FIELDS = ("content", "checksum-algorithm", "checksum")
"""What may stand before the file."""

_DISPOSITION = re.compile(rb'Content-Disposition: (.*?); name="(.*?)"(?:; filename="([^"]+)")?')
_HEADERS_END = re.compile(rb"\r?\n\r?\n")
_FIELDS_BYTES = 512 * 1024
_HEADERS_BYTES = 8 * 1024


class BrokenUpload(Exception):
    """A form that is not read to its end; the text is what the server answers."""


class Form:
    """One form on its way. Whatever follows the file belongs to the file: order matters."""

    def __init__(self, boundary: str, sink: BinaryIO) -> None:
        mark = b"--" + boundary.encode("latin-1", "replace")
        self._delimiter = re.compile(re.escape(mark) + rb"\r?\n")
        self._end = mark + b"--"
        self._sink = sink
        self._buffer = bytearray()
        self._has_begun = False
        self.fields: dict[str, str] = {}
        self.filename = ""
        self.size = 0
        self.is_complete = False

    def feed(self, data: bytes) -> None:
        """Take the next piece; `BrokenUpload` where the form is not as it must be."""
        if self.is_complete:
            return
        self._buffer += data
        if not self.filename:
            self._read_fields()
        if self.filename:
            self._read_file()
        elif len(self._buffer) > _FIELDS_BYTES:
            raise BrokenUpload("upload failed")

    def _read_fields(self) -> None:
        if not self._has_begun:
            first = self._delimiter.search(self._buffer)
            if first is None:
                return
            del self._buffer[: first.end()]
            self._has_begun = True
        while not self.filename and self._read_part():
            pass

    def _read_part(self) -> bool:
        """Whether another field was there, or the beginning of the file."""
        headers = _HEADERS_END.search(self._buffer, 0, _HEADERS_BYTES)
        if headers is None:
            if len(self._buffer) >= _HEADERS_BYTES:
                raise BrokenUpload("upload failed")
            return False
        found = _DISPOSITION.search(self._buffer, 0, headers.start() + 1)
        if found is None:
            raise BrokenUpload("upload failed")
        disposition, name, filename = (_text(group) for group in found.groups(default=b""))
        if disposition != "form-data":
            raise BrokenUpload(
                f"wrong Content-Disposition '{disposition}' in multipart, expected 'form-data'"
            )
        if name != "filename" if filename else name not in FIELDS:
            raise BrokenUpload(f"wrong field name '{name}' for file upload, expected 'filename'")
        if filename:
            self.filename = filename.strip()
            if not self.filename:
                raise BrokenUpload("upload failed")
            del self._buffer[: headers.end()]
            return True
        following = self._delimiter.search(self._buffer, headers.end())
        if following is None:
            return False
        self.fields[name] = _text(bytes(self._buffer[headers.end() : following.start()])).strip()
        del self._buffer[: following.end()]
        return True

    def _read_file(self) -> None:
        end = self._buffer.find(self._end)
        if end >= 0:
            self._write(bytes(self._buffer[:end]).removesuffix(b"\n").removesuffix(b"\r"))
            self._buffer.clear()
            self.is_complete = True
            return
        # The end, with the line break before it, may have come in part.
        safe = len(self._buffer) - len(self._end) - 1
        if safe > 0:
            self._write(self._buffer[:safe])
            del self._buffer[:safe]

    def _write(self, data: bytes | bytearray) -> None:
        self._sink.write(data)
        self.size += len(data)


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


class Spool:
    """A form whose file goes to disk."""

    def __init__(self, boundary: str, directory: Path | None) -> None:
        import tempfile

        handle, name = tempfile.mkstemp(prefix="upload-", dir=directory)
        self._path = Path(name)
        self._file: BinaryIO = os.fdopen(handle, "wb")
        self._form = Form(boundary, self._file)

    def take(self, data: bytes) -> str:
        """What is wrong with the form, after its next piece; no piece: nothing follows."""
        if not data:
            return "" if self._form.is_complete else "upload failed"
        try:
            self._form.feed(data)
        except BrokenUpload as broken:
            return str(broken)
        return ""

    @property
    def is_complete(self) -> bool:
        return self._form.is_complete

    def finished(self) -> Upload:
        """What came, once the form is complete."""
        self._file.close()
        form = self._form
        return Upload(form.fields, form.filename, self._path, form.size)

    def remove(self) -> None:
        """Forget the file, unless somebody has moved it away."""
        self._file.close()
        self._path.unlink(missing_ok=True)
