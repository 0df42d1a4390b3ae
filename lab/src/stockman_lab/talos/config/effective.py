"""A machine configuration as the machine understands it, whatever contract it was written for."""

from __future__ import annotations

from functools import lru_cache

from stockman_lab.talos.config.effective_record import Effective

__all__ = ["Effective", "effective"]

_REMEMBERED = 4096


@lru_cache(maxsize=_REMEMBERED)
def effective(text: bytes, minor: str) -> Effective:
    """What a configuration says to a machine of a minor, `1.13`.

    The text is one that Talos takes: what is not as it has to be is passed over, not told;
    `judging` tells.
    """
    from stockman_lab.talos.config.reading import read

    return read(text, minor)
