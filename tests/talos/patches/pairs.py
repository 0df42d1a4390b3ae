"""Machine configurations and patches for them, drawn from the tables of types.

Every document and every field that Talos takes can come up. Names, keys of lists and scalars come
from small pools, so that what a patch says often meets something in the configuration.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar, cast

from stockman.talos.patches.schema import NUMBERS, SchemaType, load_schema

_T = TypeVar("_T")

TEXTS = ["alpha", "beta", "eth0", "eth1", "10.0.0.0/8", "/dev/sda", "8080", "off", "true", ""]
PLAIN = ["alpha", "12", "true", "no", "0x1F", "1e3", "010", "1_000", "eth0"]
URLS = [
    "https://one.example:6443",
    "https://one.example/path/to?key=value#part",
    "http://two.example",
    "tcp://10.0.0.1:5514/",
    "https://user@three.example/x%20y",
    "//four.example/deep",
    "relative/path",
    "mailto:somebody",
    "",
    "https://bad host/",
    "https://five.example:port/",
    ":nothing",
]
CODED: dict[str, list[str]] = {
    "Addr": ["10.1.2.3", "10.1.2.4", "fd00:0:0::1", "FD00::a", "::ffff:10.0.0.1", "", "10.1.2"],
    "AddrPort": ["10.1.2.3:51820", "[fd00::1]:1", "fd00::1:1", "10.1.2.3:99999", ""],
    "Base64Bytes": ["YWJj", "YQ==", "", "YQ", "?"],
    "ByteSize": ["10GiB", "1.5 TB", "0", "1,024", "-5GB", "", "10 apples", "."],
    "DiskSize": ["4096", "10GiB", "0", "1.5TB", "many"],
    "Endpoint": URLS,
    "Expression": ["disk.size > 10u * GB", "true", ""],
    "HardwareAddr": ["52:54:00:12:34:56", "52540012AAFF", "", "5:2", "zz"],
    "InstallDiskSizeMatcher": [">= 100GB", "<1TB", "10GiB", "==", " > 5 mb "],
    "PortRange": ["80", "1000-2000", "7-7", "0", "70000", "5-"],
    "Prefix": ["10.1.2.3/24", "10.1.0.0/16", "FD00::/64", "10.1.2.3/33", "10.1.2.3", ""],
    "Size": ["10GiB", "50%", "-10%", "101%", "1TB", "", "5%%"],
    "URL": URLS,
}
DURATIONS = ["90s", "1h", "1h30m", "100ms", "0s", "1.5s", "15", "soon", "0", "-3m"]
NAMES = ["alpha", "beta"]


class Dice:
    """Numbers that follow from a seed."""

    def __init__(self, seed: str) -> None:
        self._seed = seed
        self._count = 0

    def below(self, end: int) -> int:
        self._count += 1
        text = f"{self._seed}/{self._count}"
        return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest()) % end

    def chance(self, percent: float) -> bool:
        return self.below(10_000) < percent * 100

    def one(self, options: Sequence[_T]) -> _T:
        return options[self.below(len(options))]


@dataclass(frozen=True)
class Plain:
    """A scalar that stands in the text without quotes."""

    text: str


@dataclass(frozen=True, kw_only=True)
class Pair:
    """A configuration and the patches for it."""

    config: str
    patches: tuple[str, ...]


class Writer:
    """Draws values of types and writes them as YAML."""

    def __init__(self, minor: str, seed: str, *, wrong: float = 0.4) -> None:
        self.table = load_schema(minor)
        self.dice = Dice(f"{minor}/{seed}")
        self._wrong = wrong
        """Percent of values that Talos should refuse."""
        self._quotes = False
        """Whether every text is quoted, and spelled as Talos prints it."""

    def pair(self) -> Pair:
        dice = self.dice
        kinds = sorted(self.table.kinds)
        chosen = [dice.one(kinds) for _ in range(1 + dice.below(3))]
        is_legacy = dice.chance(75)
        wrong, self._wrong = self._wrong, 0.0
        config = self.documents((["v1alpha1"] if is_legacy else []) + chosen, twins=False)
        self._wrong = wrong
        patches = []
        for _ in range(1 if dice.chance(80) else 2):
            targets = ["v1alpha1"] if is_legacy and dice.chance(60) else []
            targets += [
                dice.one(chosen) if dice.chance(75) else dice.one(kinds)
                for _ in range(dice.below(3) if targets else 1 + dice.below(2))
            ]
            patches.append(self.documents(targets, twins=dice.chance(5), deletes=True))
        return Pair(config=config, patches=tuple(patches))

    def operated(self) -> Pair:
        """A configuration of one document and a JSON patch for it.

        The merge that follows makes Talos load what the operations left. Where none comes before,
        they meet the text as it was written, in which unquoted texts are numbers to Talos.
        """
        is_first = self.dice.chance(50)
        wrong, self._wrong, self._quotes = self._wrong, 0.0, is_first
        document = self.document("v1alpha1")
        self._wrong, self._quotes = wrong, False
        operations = [self.operation(document) for _ in range(1 + self.dice.below(3))]
        config = written(document) + "\n"
        nothing = '{"machine": {}}'
        before = () if is_first else (nothing,)
        return Pair(config=config, patches=(*before, written(operations), nothing))

    def operation(self, document: dict[str, object]) -> dict[str, object]:
        dice = self.dice
        op = dice.one(["add", "add", "add", "remove", "replace", "move", "copy", "test"])
        pointers = list(_pointers(document))
        path, value = dice.one(pointers)
        if op == "add" and isinstance(value, list):
            path += dice.one(["/-", "/0", "/-1", "/9"])
        if dice.chance(5):
            path += dice.one(["/none", "~1x", "/"])
        operation: dict[str, object] = {"op": op, "path": path}
        if op in ("add", "replace", "test"):
            operation["value"] = value if dice.chance(70) else dice.one(TEXTS)
        if op in ("move", "copy"):
            operation["from"] = dice.one(pointers)[0]
        if dice.chance(2):
            operation.popitem()
        return operation

    def documents(self, kinds: list[str], *, twins: bool, deletes: bool = False) -> str:
        texts: dict[tuple[str, object], str] = {}
        for kind in kinds:
            document = self.document(kind)
            if deletes and self.dice.chance(35):
                self.delete_in(document, 1 + self.dice.below(2))
            key = (kind, document.get("name") if self.table.kinds[kind].is_named else None)
            if twins:
                key = (kind, len(texts))
            texts[key] = written(document)
        return "\n---\n".join(texts.values()) + "\n"

    def document(self, kind: str) -> dict[str, object]:
        row = self.table.kinds[kind]
        body = self.struct(row.type, 0)
        if kind == "v1alpha1":
            body.setdefault(self.dice.one(["machine", "cluster"]), {})
            return body
        body = {"apiVersion": "v1alpha1", "kind": kind, **body}
        body["apiVersion"], body["kind"] = "v1alpha1", kind
        if row.is_named or ("name" in body and self.dice.chance(50)):
            body["name"] = self.dice.one(NAMES)
        return body

    def struct(self, type_: SchemaType, depth: int) -> dict[str, object]:
        fields = list(type_.named.values())
        values: dict[str, object] = {}
        count = max(1, 6 - depth) if depth else len(fields)
        for _ in range(min(count, len(fields))):
            field = self.dice.one(fields)
            if depth > 7 and field.type.kind in ("struct", "list", "map", "pointer"):
                continue
            values[field.name] = self.value(field.type, depth + 1)
        if type_.free is not None:
            for _ in range(self.dice.below(4)):
                values[self.dice.one(["alpha", "beta", "gamma"])] = self.anything(depth + 1)
        if self.dice.chance(self._wrong / 2):
            values["noSuchField"] = 1
        return values

    def value(self, type_: SchemaType, depth: int) -> object:
        dice = self.dice
        if dice.chance(2) and self._wrong:
            return Plain("null")
        if dice.chance(self._wrong):
            return dice.one([{"a": 1}, ["a"], "word", Plain("1.5"), Plain("-1"), {}, []])
        if type_.kind == "pointer":
            return self.value(type_.element, depth)
        if type_.name.endswith(".ArgValue"):
            # Talos prints an `off` there without quotes, and its JSON patches read it as false.
            text = dice.one([text for text in TEXTS if text != "off"])
            return dice.one(cast(list[object], [text, [text], [], "12"]))
        if type_.words:
            return dice.one(list(type_.words)[:12])
        short = type_.name.rpartition(".")[2]
        if type_.codec and short in CODED:
            return self.coded(CODED[short])
        if type_.codec.startswith("x509."):
            return self.certificates(type_)
        if type_.kind == "struct":
            return self.struct(type_, depth)
        if type_.kind == "list":
            return [self.value(type_.element, depth + 1) for _ in range(dice.below(3))]
        if type_.kind == "map":
            keys = ["alpha", "beta", "eth0"]
            return {
                dice.one(keys): self.value(type_.element, depth + 1) for _ in range(dice.below(4))
            }
        return self.scalar(type_)

    def coded(self, options: list[str]) -> object:
        """One of the good ones, and a bad one where bad ones are drawn."""
        text = options[self.dice.below(len(options))]
        good = self.dice.chance(100 - self._wrong * 20) if self._wrong else True
        if good:
            text = options[self.dice.below(2)] if self.dice.chance(80) else text
        if not self._wrong:
            text = options[0 if self._quotes else self.dice.below(2)]
        return Plain(text) if text.isdecimal() else text

    def certificates(self, type_: SchemaType) -> object:
        dices = {name: self.dice.one(["YWJj", "ZGVm", ""]) for name in type_.named}
        if self.dice.chance(40):
            dices.popitem()
        return dices

    def scalar(self, type_: SchemaType) -> object:
        dice = self.dice
        if type_.kind == "any":
            return self.anything(0)
        if type_.kind == "bool":
            return dice.one(
                [True, False] if self._quotes else [True, False, Plain("yes"), Plain("off")]
            )
        if type_.kind == "duration":
            if self._wrong and dice.chance(20):
                return dice.one([Plain("0"), Plain("5"), Plain("5.0"), *DURATIONS])
            return "1h30m0s" if self._quotes else dice.one(DURATIONS[:6])
        if type_.kind in NUMBERS:
            high = NUMBERS[type_.kind][1]
            return dice.one([0, 1, 2, 100, high] if dice.chance(90) else [Plain("0x10"), 7])
        if self._quotes or dice.chance(80):
            return dice.one(TEXTS)
        return Plain(dice.one([*PLAIN, "2024-05-06", "~"] if self._wrong else PLAIN))

    def anything(self, depth: int) -> object:
        dice = self.dice
        if depth < 7 and dice.chance(30):
            keys = ["alpha", "beta", "gamma"]
            return {dice.one(keys): self.anything(depth + 2) for _ in range(dice.below(3))}
        if depth < 7 and dice.chance(20):
            return [self.anything(depth + 2) for _ in range(dice.below(3))]
        if dice.chance(75):
            return dice.one(["one", "two", ""])
        numbers: list[object] = [0, 1, 7, True, False, 1.5]
        odd = [Plain("null"), Plain("2024-05-06")] if self._wrong else []
        return dice.one([*numbers, *odd])

    def delete_in(self, document: dict[str, object], count: int) -> None:
        """Put `$patch: delete` somewhere."""
        for _ in range(count):
            mappings = list(_mappings(document))
            dice = self.dice.one(mappings)
            keys = [key for key in dice if key not in ("apiVersion", "kind", "name")]
            if keys and self.dice.chance(70):
                dice[self.dice.one(keys)] = {"$patch": "delete"}
            else:
                dice["$patch"] = "delete"


def _mappings(value: object) -> list[dict[str, object]]:
    values: list[dict[str, object]] = []
    if isinstance(value, dict):
        values.append(value)
        for item in value.values():
            values += _mappings(item)
    elif isinstance(value, list):
        for item in value:
            values += _mappings(item)
    return values


def _pointers(value: object, path: str = "") -> list[tuple[str, object]]:
    """Everything below a value, with its JSON pointer."""
    pointers: list[tuple[str, object]] = []
    if isinstance(value, dict):
        for key, item in value.items():
            here = f"{path}/{key.replace('~', '~0').replace('/', '~1')}"
            pointers += [(here, item), *_pointers(item, here)]
    elif isinstance(value, list):
        for index, item in enumerate(value):
            pointers += [(f"{path}/{index}", item), *_pointers(item, f"{path}/{index}")]
    return pointers


def written(value: object) -> str:
    """YAML in flow style; texts are quoted unless they are `Plain`."""
    if isinstance(value, Plain):
        return value.text
    if isinstance(value, dict):
        inside = ", ".join(f"{json.dumps(key)}: {written(item)}" for key, item in value.items())
        return "{" + inside + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(written, value)) + "]"
    return json.dumps(value)
