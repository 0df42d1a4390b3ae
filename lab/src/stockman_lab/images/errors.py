"""What is wrong with an image."""

from __future__ import annotations


class CorruptImage(ValueError):
    """Bytes that cannot be read as the image that they claim to be."""
