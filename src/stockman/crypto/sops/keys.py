"""The data key of a file: wrapped for each recipient, unwrapped with any identity."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from stockman.crypto.age import files as age
from stockman.crypto.age.identities import Identity
from stockman.crypto.age.recipients import parse_recipient
from stockman.crypto.sops import problems
from stockman.crypto.sops.metadata import AgeKey, Metadata
from stockman.crypto.sops.problems import Where
from stockman.model.errors import Denied, StockmanError

_KEY_SIZES = (16, 24, 32)


def wrapped_keys(
    data_key: bytes, recipients: Iterable[str], random_bytes: Callable[[int], bytes], where: str
) -> tuple[AgeKey, ...]:
    """The data key for each recipient by itself, in the order given, each once."""
    return tuple(
        AgeKey(
            recipient=text,
            enc=age.encrypt(
                data_key, [parse_recipient(text, where)], random_bytes, armor=True
            ).decode("ascii"),
        )
        for text in dict.fromkeys(recipients)
    )


def unwrapped_key(metadata: Metadata, identities: Sequence[Identity], where: Where) -> bytes:
    """The data key; each wrapped form is tried with each identity."""
    broken: StockmanError | None = None
    for key in metadata.age:
        try:
            data_key = age.decrypt(key.enc.encode(), identities, str(where))
        except Denied:
            continue
        except StockmanError as error:
            broken = error
            continue
        if len(data_key) not in _KEY_SIZES:
            raise problems.bad_metadata(where, "its data key has a length that is never used")
        return data_key
    if broken is not None:
        raise broken
    raise problems.no_identity_fits(where, len(metadata.age), len(identities))
