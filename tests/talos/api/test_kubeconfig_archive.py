"""The archive with the kubeconfig, as Talos writes it."""

from __future__ import annotations

import gzip
import io
import tarfile

import pytest

from stockman.talos.api.calls import InvalidAnswer
from stockman.talos.api.client import _unpack_archive

TEXT = "apiVersion: v1\nkind: Config\n"


def archive(*, padding: int) -> bytes:
    entry = tarfile.TarInfo("kubeconfig")
    entry.size = len(TEXT)
    return gzip.compress(entry.tobuf(tarfile.USTAR_FORMAT) + TEXT.encode() + bytes(padding))


@pytest.mark.parametrize("padding", [0, 512 - len(TEXT), 10240 - 512 - len(TEXT)])
def test_an_archive_is_read_with_and_without_padding(padding: int) -> None:
    """Talos 1.13.9 sends neither padding nor end blocks."""
    assert _unpack_archive(archive(padding=padding)) == TEXT


def test_an_archive_without_a_kubeconfig_is_refused() -> None:
    other = io.BytesIO()
    with tarfile.open(fileobj=other, mode="w:gz") as packed:
        packed.addfile(tarfile.TarInfo("other"))

    with pytest.raises(InvalidAnswer, match="there is no kubeconfig"):
        _unpack_archive(other.getvalue())
