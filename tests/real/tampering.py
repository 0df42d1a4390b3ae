"""Changes of encrypted files that somebody without the data key could make."""

import base64
import re
from collections.abc import Iterator

from tests.crypto.generated import Dice

_VALUE = re.compile(r"ENC\[AES256_GCM,data:([^,]+),iv:([^,]+),tag:([^,]+),type:(\w+)\]")
_KEY = re.compile(r"^( *)(\w+):", re.MULTILINE)


def tampered(content: str, dice: Dice) -> Iterator[tuple[str, str]]:
    """The name of a change, and the file with it."""
    values = list(_VALUE.finditer(content))
    body = content.split("\nsops:", 1)[0] if "\nsops:" in content else content
    for part, name in ((1, "data"), (2, "iv"), (3, "tag")):
        yield name, _flipped(content, dice.one_of(values), part, dice)
    yield "mac", _flipped(content, values[-1], dice.one_of((1, 2, 3)), dice)
    one = dice.one_of(values)
    yield "type", _replaced(content, one, 4, dice.one_of(("str", "int", "float", "bool", "bytes")))
    first, second = dice.one_of(values), dice.one_of(values)
    if first.start() < second.start():
        yield (
            "swapped",
            (
                content[: first.start()]
                + second[0]
                + content[first.end() : second.start()]
                + first[0]
                + content[second.end() :]
            ),
        )
    keys = list(_KEY.finditer(body))
    if keys:
        key = dice.one_of(keys)
        yield "renamed", f"{content[: key.end(2)]}x{content[key.end(2) :]}"
    yield "removed", content[: one.start()] + '""' + content[one.end() :]
    yield "clear", content[: one.start()] + "wolf" + content[one.end() :]
    yield "time", re.sub(r'(lastmodified"?: "20)\d\d', r"\g<1>01", content)
    yield "shorter", content[: dice.below(len(content))]


def _flipped(content: str, value: re.Match[str], part: int, dice: Dice) -> str:
    data = bytearray(base64.b64decode(value[part]))
    data[dice.below(len(data))] ^= 1 << dice.below(8)
    return _replaced(content, value, part, base64.b64encode(bytes(data)).decode())


def _replaced(content: str, value: re.Match[str], part: int, text: str) -> str:
    return content[: value.start(part)] + text + content[value.end(part) :]
