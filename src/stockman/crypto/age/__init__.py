"""Files of age: format version 1, X25519 and post-quantum keys, both directions, as streams."""
