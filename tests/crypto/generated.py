"""Documents made by dice: nested, in all layouts, with comments, for every selector."""

import hashlib
import json
from collections.abc import Sequence
from typing import NamedTuple, TypeVar

from stockman.crypto.sops.selectors import EncryptionSettings, Selector

T = TypeVar("T")

KEYS: tuple[str, ...] = (
    "data",
    "stringData",
    "name",
    "key",
    "host_unencrypted",
    "token_secret",
    "a",
    "b",
    "y",
    "on",
)
KEYS += ("with space", "kind", "Ünïcode", "dotted.key", "10", "-", "colon:inside", "")
TEXTS: tuple[str, ...] = (
    "plain",
    "two words",
    "yes",
    "0755",
    "1e3",
    "12:30:45",
    "null",
    "~",
    "- dash",
    "# hash",
)
TEXTS += (
    "a: b",
    "trailing ",
    " leading",
    "quo'te",
    'dou"ble',
    "tab\there",
    "ünïcödé ☃ 🐄",
    "ENC[no]",
)
TEXTS += ("line 1\nline 2\n", "line\n\n\nfar\n", "no end\nof line", "x" * 300, "\\back", "%tag", "")
TEXTS += ("many ends\n\n\n", "bell\a", "2001-01-01", "@at", "{brace}", "!x")
PLAIN: tuple[str, ...] = (
    "word",
    "3",
    "-17",
    "0",
    "1.5",
    "-0.25",
    "1e3",
    "0755",
    "0o17",
    "0x1F",
    "0b101",
    "1_000",
    "08",
)
PLAIN += ("true", "False", "null", "~", ".5", ".inf", "-.INF", "2001-01-02", "2001-1-2 3:4:5.600")
PLAIN += ("2001-12-14T21:59:43.10-05:00", "9223372036854775807", "99999999999999999999", "6.02e23")
PLAIN += (
    "yes",
    "on",
    "1:30",
    "bare words here",
    "http://127.0.0.1:80/x#y",
    "+12",
    "1.",
    "1.0",
)
REMARKS = (
    " remark",
    "no space",
    " with: colon",
    " ünïcode",
    " encrypt me",
    " leave me",
    " # twice",
)
SELECTORS = (
    Selector(),
    Selector(),
    Selector(name="encrypted_regex", pattern="^(data|stringData)$"),
    Selector(name="unencrypted_regex", pattern="^(name|kind)$"),
    Selector(name="encrypted_suffix", pattern="_secret"),
    Selector(name="unencrypted_suffix", pattern="me"),
    Selector(name="encrypted_comment_regex", pattern="encrypt me"),
    Selector(name="unencrypted_comment_regex", pattern="^ leave me"),
)


class Dice:
    """Numbers that look random and are the same for the same seed."""

    def __init__(self, seed: str) -> None:
        self._seed = seed
        self._count = 0

    def bytes(self, count: int) -> bytes:
        self._count += 1
        return hashlib.shake_256(f"{self._seed}/{self._count}".encode()).digest(count)

    def below(self, limit: int) -> int:
        return int.from_bytes(self.bytes(8), "big") % limit

    def one_of(self, choices: Sequence[T]) -> T:
        return choices[self.below(len(choices))]

    def chance(self, percent: int) -> bool:
        return self.below(100) < percent


class Made(NamedTuple):
    """A plaintext, and how it is to be encrypted."""

    name: str
    plain: bytes
    recipe: EncryptionSettings


def made(seed: str, recipients: tuple[str, ...], *, comments: bool = True) -> Made:
    """The document of a seed: mostly YAML, some JSON and binary."""
    dice = Dice(seed)
    recipe = EncryptionSettings(
        recipients=recipients,
        selector=dice.one_of(SELECTORS),
        only_encrypted=dice.chance(40),
        indent=dice.one_of((2, 4, 4)),
    )
    form = dice.below(10)
    if form == 0:
        recipe = EncryptionSettings(recipients=recipients)
        return Made("made.bin", dice.bytes(dice.one_of((1, 10, 5000))), recipe)
    if form <= 2:
        value = {key: _json_value(dice, 0) for key in _keys(dice, 1 + dice.below(6))}
        text = json.dumps(value, indent=dice.one_of((None, 1, 2, "\t")), ensure_ascii=False)
        return Made("made.json", text.encode(), recipe)
    writer = _YamlWriter(dice, comments=comments)
    return Made("made.yaml", writer.file().encode(), recipe)


def _keys(dice: Dice, count: int) -> list[str]:
    return list(dict.fromkeys(dice.one_of(KEYS) for _ in range(count)))


def _json_value(dice: Dice, depth: int) -> object:
    kind = dice.below(10 if depth < 3 else 7)
    if kind <= 3:
        return dice.one_of(TEXTS)
    if kind <= 6:
        return dice.one_of(
            (0, 1, -5, 1.5, 1.0, 1e21, 1e-7, 2**53 + 1, 2**63 - 1, True, False, None)
        )
    if kind == 7:
        return [_json_value(dice, depth + 1) for _ in range(dice.below(4))]
    return {key: _json_value(dice, depth + 1) for key in _keys(dice, dice.below(4))}


class _YamlWriter:
    def __init__(self, dice: Dice, *, comments: bool) -> None:
        self._dice = dice
        self._comments = comments
        self._indent = dice.one_of((2, 4))
        self._lines: list[str] = []

    def file(self) -> str:
        count = 2 if self._dice.chance(15) else 1
        if count == 2 or self._dice.chance(40):
            self._lines.append("---")
        self._mapping(0, 0)
        if count == 2:
            self._lines.append("---")
            self._mapping(0, 0)
        return "\n".join(self._lines) + "\n"

    def _mapping(self, column: int, depth: int) -> None:
        for key in _keys(self._dice, 1 + self._dice.below(5)):
            self._maybe_comment(column)
            self._value(column, f"{' ' * column}{self._key(key)}:", depth)
        if self._dice.chance(10):
            self._maybe_comment(column)

    def _list(self, column: int, depth: int) -> None:
        for _ in range(1 + self._dice.below(4)):
            self._maybe_comment(column)
            head = f"{' ' * column}-"
            if depth < 3 and self._dice.chance(25):
                place = len(self._lines)
                self._mapping(column + 2, depth + 1)
                for index in range(place, len(self._lines)):
                    line = self._lines[index]
                    if line and not line.lstrip().startswith("#"):
                        self._lines[index] = f"{' ' * column}- {line[column + 2 :]}"
                        break
            else:
                self._value(column, head, depth, in_list=True)

    def _value(self, column: int, head: str, depth: int, *, in_list: bool = False) -> None:
        kind = self._dice.below(10 if depth < 3 else 6)
        if kind <= 5:
            self._scalar(column, head)
        elif kind == 6:
            self._lines.append(f"{head} {self._flow(depth)}")
        elif kind == 7 and not in_list:
            self._lines.append(head + self._inline())
            same = self._dice.chance(30)
            self._list(column if same else column + self._indent, depth + 1)
        elif not in_list:
            self._lines.append(head + self._inline())
            self._mapping(column + self._indent, depth + 1)
        else:
            self._scalar(column, head)

    def _scalar(self, column: int, head: str) -> None:
        if self._dice.chance(45):
            self._lines.append(f"{head} {self._dice.one_of(PLAIN)}{self._inline()}")
            return
        text = self._dice.one_of(TEXTS)
        if "\n" in text and not text.startswith(" ") and self._dice.chance(70):
            self._block(column, head, text)
        elif self._dice.chance(40) and text.isprintable():
            quoted = text.replace("'", "''")
            self._lines.append(f"{head} '{quoted}'{self._inline()}")
        else:
            self._lines.append(f"{head} {json.dumps(text, ensure_ascii=False)}{self._inline()}")

    def _block(self, column: int, head: str, text: str) -> None:
        body = text.rstrip("\n")
        sign = {0: "-", 1: ""}.get(len(text) - len(body), "+")
        self._lines.append(f"{head} |{sign}")
        margin = " " * (column + self._indent)
        self._lines += [f"{margin}{line}" if line else "" for line in body.split("\n")]
        self._lines += [""] * (len(text) - len(body) - 1)

    def _flow(self, depth: int) -> str:
        def item(level: int) -> str:
            kind = self._dice.below(8 if level < 2 else 6)
            if kind <= 2:
                return json.dumps(self._dice.one_of(TEXTS), ensure_ascii=False)
            if kind <= 5:
                return self._dice.one_of(("1", "true", "word", "null", "1.50"))
            return self._brackets(level + 1, item)

        return self._brackets(depth, item)

    def _brackets(self, level: int, item: object) -> str:
        assert callable(item)
        if self._dice.chance(50):
            return "[" + ", ".join(item(level) for _ in range(self._dice.below(4))) + "]"
        keys = _keys(self._dice, self._dice.below(4))
        return "{" + ", ".join(f"{json.dumps(key)}: {item(level)}" for key in keys) + "}"

    def _key(self, key: str) -> str:
        return json.dumps(key, ensure_ascii=False) if key in ("", "-", "10") else key

    def _maybe_comment(self, column: int) -> None:
        if self._comments and self._dice.chance(20):
            self._lines.append(f"{' ' * column}#{self._dice.one_of(REMARKS)}")
        elif self._dice.chance(6) and self._lines and self._lines[-1] != "---":
            self._lines.append("")

    def _inline(self) -> str:
        if self._comments and self._dice.chance(15):
            return f" #{self._dice.one_of(REMARKS)}"
        return ""
