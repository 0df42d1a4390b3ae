"""Primitives: the same wherever the library keeps them, and nothing else is loaded for them."""

import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location

import pytest
from cryptography.hazmat.bindings._rust import openssl

from stockman.crypto import primitives

PRIVATE = bytes(range(32))
PATIENCE = 60


def test_other_packages_of_the_library_are_not_loaded() -> None:
    program = "import sys\nfrom stockman.crypto.primitives import AESGCM\nprint(*sys.modules)\n"
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=True,
    )

    loaded = done.stdout.split()
    assert "cryptography.hazmat.bindings._rust" in loaded
    assert not [name for name in loaded if name.startswith("cryptography.hazmat.primitives.")]


def test_the_library_is_not_loaded_before_it_is_used() -> None:
    program = "import sys, stockman.crypto.sops.decryption\nsys.exit('cryptography' in sys.modules)"

    subprocess.run([sys.executable, "-c", program], timeout=PATIENCE, check=True)


def test_documented_places_are_asked_where_the_compiled_library_has_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import cryptography.hazmat.primitives.ciphers.aead  # noqa: F401  # before the other is gone

    monkeypatch.delattr(openssl, "aead")
    spec = spec_from_file_location("elsewhere", primitives.__file__)
    assert spec is not None
    assert spec.loader is not None
    elsewhere = module_from_spec(spec)
    spec.loader.exec_module(elsewhere)

    sealed = elsewhere.AESGCM(PRIVATE).encrypt(bytes(12), b"text", None)
    assert primitives.AESGCM(PRIVATE).decrypt(bytes(12), sealed, None) == b"text"
    sealed = elsewhere.ChaCha20Poly1305(PRIVATE).encrypt(bytes(12), b"text", None)
    assert primitives.ChaCha20Poly1305(PRIVATE).decrypt(bytes(12), sealed, None) == b"text"
    public = primitives.x25519_private_key(PRIVATE).public_key().public_bytes_raw()
    assert elsewhere.x25519_private_key(PRIVATE).public_key().public_bytes_raw() == public
    assert elsewhere.x25519_public_key(public).public_bytes_raw() == public
    assert "X25519PrivateKey" in elsewhere.x25519_private_key.__qualname__
