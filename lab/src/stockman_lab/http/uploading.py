"""Where an upload lies while it comes in and until it is answered."""

from __future__ import annotations

import os
from pathlib import Path
from typing import BinaryIO

from stockman_lab.http.messages import Upload
from stockman_lab.http.multipart import BrokenUpload, Form


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
