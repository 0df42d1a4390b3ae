"""Expressions drawn from a grammar of their own, right and wrong ones."""

from __future__ import annotations

import json

from stockman.talos.validation.cel.types import (
    DISK,
    LINK,
    MEMBER,
    OOM_RANKING,
    OOM_TRIGGER,
    VOLUME,
    Environment,
)
from tests.talos.patches.pairs import Dice

PLACES: dict[str, tuple[Environment, int, str]] = {
    "disk": (
        DISK,
        11,
        "kind: VolumeConfig\nname: EPHEMERAL\nprovisioning: {{diskSelector: {{match: {}}}}}",
    ),
    "volume": (
        VOLUME,
        11,
        "kind: ExistingVolumeConfig\nname: a\ndiscovery: {{volumeSelector: {{match: {}}}}}\n",
    ),
    "link": (LINK, 12, "kind: LinkAliasConfig\nname: a\nselector: {{match: {}}}\n"),
    "trigger": (OOM_TRIGGER, 12, "kind: OOMConfig\ntriggerExpression: {}\n"),
    "ranking": (OOM_RANKING, 12, "kind: OOMConfig\ncgroupRankingExpression: {}\n"),
    "member": (
        MEMBER,
        14,
        "kind: RAIDArrayConfig\nname: a\nprovisioning: {{volumeSelector: {{match: {}}}}}\n",
    ),
}
"""Where expressions stand: what they may use, since which minor, and the document around them."""
FIELDS = {
    "disk": ("size", "serial", "rotational", "symlinks", "model", "none", "dev_path"),
    "volume": ("size", "name", "partition_index", "label", "offset", "none"),
    "link": ("permanent_addr", "driver", "type", "bond_master", "alt_names", "mtu", "none"),
}
OPERATORS = ("==", "!=", "<", "<=", ">", ">=", "+", "-", "*", "/", "%", "&&", "||", "in")
ATOMS: dict[str, tuple[str, ...]] = {
    "bool": ("true", "false", "type(1) == int", "bool('true')"),
    "int": ("1", "-1", "0x1F", "int('5')", "int(1u)", "'a'.size()", "duration('1s').getHours()"),
    "uint": ("10u", "0x1Fu", "uint(5)", "1U"),
    "double": ("1.5", "1e3", "-.5", "double(1)", "double('1')"),
    "string": ('"text"', "'text'", r'"a\n"', 'r"a\\d"', "string(1)", '"""x"""', r"'\x41'"),
    "bytes": ('b"x"', "bytes('a')"),
    "list": ("[]", "['a']", "['a', \"b\"]", "[string(1)]"),
    "ints": ("[1, 2]", "[1]"),
    "map": ("{}", "{'a': 1}", "{'a': 1, 'b': 2}"),
    "duration": ("duration('1s')", "duration('1h') - duration('1s')"),
    "null": ("null",),
    "dyn": ("dyn(1)", "[1, 'a'][0]", "dyn('a')"),
}
KINDS = tuple(ATOMS)


def document(field: str, text: str) -> str:
    """A configuration of one document with an expression in it."""
    return "apiVersion: v1alpha1\n" + PLACES[field][2].format(json.dumps(text))


class Speaker:
    """Draws expressions for one place, most of them of the right types."""

    def __init__(self, field: str, seed: str) -> None:
        self._dice = Dice(f"{field}/{seed}")
        self._place = field
        self._environment = PLACES[field][0]
        self._names = [name for name in self._environment.variables if name not in FIELDS]
        self._wrong = 4 if self._dice.chance(60) else 0

    def text(self) -> str:
        text = self._of(self._environment.result.name, 0)
        if self._dice.chance(5):
            at = self._dice.below(len(text) + 1)
            text = text[:at] + self._dice.one(["(", ")", "'", ".", "=", "a", " ", "?"]) + text[at:]
        return text

    def _of(self, kind: str, depth: int) -> str:
        dice = self._dice
        if dice.chance(self._wrong):
            kind = dice.one(KINDS)
        if depth > 3 or dice.chance(25):
            return self._atom(kind)
        inner = depth + 1
        if kind == "bool":
            return self._truth(inner)
        if kind in ("int", "uint", "double"):
            signs = ["+", "-", "*", "/"] + (["%"] if kind != "double" else [])
            return f"({self._of(kind, inner)} {dice.one(signs)} {self._of(kind, inner)})"
        if kind in ("string", "bytes", "list") and dice.chance(50):
            return f"({self._of(kind, inner)} + {self._of(kind, inner)})"
        if kind == "list" and dice.chance(50):
            return f"{self._of('list', inner)}.filter(x, x != {self._of('string', inner)})"
        if dice.chance(30):
            asked, one, other = (self._of(part, inner) for part in ("bool", kind, kind))
            return f"({asked} ? {one} : {other})"
        return self._atom(kind)

    def _truth(self, depth: int) -> str:
        dice = self._dice
        below = dice.below(9)
        if below < 2:
            return f"{self._of('bool', depth)} {dice.one(['&&', '||'])} {self._of('bool', depth)}"
        if below == 2:
            return f"{dice.one(['!', '!!', '!!!'])}({self._of('bool', depth)})"
        kind = dice.one(KINDS)
        if below == 3:
            return f"{self._of(kind, depth)} {dice.one(['==', '!='])} {self._of(kind, depth)}"
        if below == 4:
            kind = dice.one(["int", "uint", "double", "string", "duration", "bool", "bytes"])
            sign = dice.one(["<", "<=", ">", ">="])
            return f"{self._of(kind, depth)} {sign} {self._of(kind, depth)}"
        if below == 5:
            call = dice.one(["startsWith", "endsWith", "contains", "matches"])
            return f"{self._of('string', depth)}.{call}({self._of('string', depth)})"
        if below == 6:
            holder = dice.one(["list", "map"])
            return f"{self._of('string', depth)} in {self._of(holder, depth)}"
        if below == 7:
            test = dice.one(["all", "exists", "exists_one"])
            return f"{self._of('list', depth)}.{test}(x, x == {self._of('string', depth)})"
        return dice.one(
            [
                f"glob({self._of('string', depth)}, {self._of('string', depth)})",
                f"mac({self._of('bytes', depth)}) == {self._of('string', depth)}",
                f"matches({self._of('string', depth)}, {self._of('string', depth)})",
                f"has({self._variable()})",
                f"{self._of('map', depth)}.a == {self._of('int', depth)}",
                f"{self._of('map', depth)}['a'] == {self._of('int', depth)}",
                f"{self._of('ints', depth)}[0] == {self._of('int', depth)}",
                f"size({self._of('list', depth)}) == {self._of('int', depth)}",
                f"{self._of('list', depth)}.map(x, x + 'a') == {self._of('list', depth)}",
                "memory_max.hasValue()",
                "memory_max.orValue(1u) > memory_peak.optMap(x, x * 2u).orValue(5u)",
                "multiply_qos_vectors(qos_memory_some_avg10, {System: 1.0, Burstable: 0.5}) > 1.0",
                "qos_memory_some_avg10[System] > 1.0",
                "qos_memory_some_avg10[?System].orValue(0.0) > 1.0",
            ]
        )

    def _variable(self) -> str:
        dice = self._dice
        options = [f"{name}.{field}" for name in FIELDS for field in FIELDS[name]]
        return dice.one([*options, *self._names])

    def _atom(self, kind: str) -> str:
        dice = self._dice
        known = [name for name in self._names if self._environment.variables[name].name == kind]
        for name, fields in FIELDS.items():
            if name in self._environment.variables:
                known += [f"{name}.{field}" for field in fields if _TYPES.get(field) == kind]
        if known and dice.chance(60):
            return dice.one(known)
        return self._variable() if dice.chance(self._wrong) else dice.one(ATOMS[kind])


_TYPES = {
    "size": "uint",
    "serial": "string",
    "rotational": "bool",
    "symlinks": "list",
    "model": "string",
    "dev_path": "string",
    "name": "string",
    "partition_index": "uint",
    "label": "string",
    "offset": "uint",
    "permanent_addr": "bytes",
    "driver": "string",
    "type": "int",
    "alt_names": "list",
    "mtu": "uint",
}
