"""age files: format version 1, X25519 and post-quantum keys, encryption and decryption as
streams."""
