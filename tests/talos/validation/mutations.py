"""Good configurations, each with one thing changed: deleted, replaced, doubled or added."""

from __future__ import annotations

import base64
import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from stockman.talos.patches.schema import MINORS
from stockman.talos.validation.report import RuntimeMode
from tests.talos.patches.pairs import Dice, Writer
from tests.talos.patches.pairs import written as flow
from tests.talos.validation.bases import base, certificate, private_key, read, written
from tests.talos.validation.judge import Case

KEY32 = base64.b64encode(bytes(range(32))).decode()
GOOD = Path(__file__).with_name("good.yaml")
ODD: list[Any] = [
    "",
    "alpha",
    "Alpha_1",
    "a b",
    "-5s",
    "1s",
    "10.0.0.300",
    "10.0.0.1",
    "10.0.0.1/24",
    "10.0.0.0/8",
    "0.0.0.0/0",
    "::",
    "fe80::1%eth0",
    "https://one.example",
    "https://one.example/path",
    "ftp://one.example:21",
    "tcp://:514",
    "x" * 64,
    "disk.size > 10",
    "true",
    "off",
    "none",
    "802.3ad",
    "5-3",
    "50%",
    "1GiB",
    "-1GiB",
    0,
    1,
    -1,
    5000,
    70000,
    True,
    False,
    None,
    [],
    {},
    ["a"],
    {"a": "b"},
]


def good_documents(minor: str) -> list[dict[str, Any]]:
    """The small documents that a minor knows."""
    number = int(minor.partition(".")[2])
    return [
        {"apiVersion": "v1alpha1", **spelled({k: v for k, v in row.items() if k != "since"})}
        for row in read(GOOD.read_text(encoding="utf-8"))[0]
        if row["since"] <= number
    ]


def spelled(value: Any) -> Any:
    """A value with the words for keys and certificates replaced by those."""
    words = {"KEY32": KEY32, "CERTIFICATE": certificate(), "PRIVATE_KEY": private_key()}
    if isinstance(value, dict):
        return {key: spelled(item) for key, item in value.items()}
    if isinstance(value, list):
        return [spelled(item) for item in value]
    return words.get(value, value) if isinstance(value, str) else value


def rich(contract: str, role: str) -> list[dict[str, Any]]:
    """A base with every section of the oldest document that is seldom used."""
    documents_so_far = read(base(contract, role))[:1]
    names = ["rich.yaml", "rich_control.yaml"] if role == "controlplane" else ["rich.yaml"]
    for name in names:
        _laid(documents_so_far[0], spelled(read(GOOD.with_name(name).read_text("utf-8"))[0]))
    return documents_so_far


def _laid(below: dict[str, Any], above: dict[str, Any]) -> None:
    for key, value in above.items():
        if isinstance(value, dict) and isinstance(below.get(key), dict):
            _laid(below[key], value)
        elif isinstance(value, list) and isinstance(below.get(key), list):
            below[key] = below[key] + value
        else:
            below[key] = value


def text_of(documents: list[dict[str, Any]]) -> str:
    return written(documents)


def mutated(documents: list[dict[str, Any]], dice: Dice, writer: Writer) -> list[dict[str, Any]]:
    """A copy with one thing changed."""
    changed = copy.deepcopy(documents)
    document = dice.one(changed)
    places = list(_places(document))
    if not places:
        return changed
    holder, key = dice.one(places)
    value = holder[key]
    below = dice.below(10)
    if below < 3:
        del holder[key]
    elif below < 7:
        alike = [odd for odd in ODD if type(odd) is type(value)]
        holder[key] = copy.deepcopy(dice.one(alike if alike and dice.chance(80) else ODD))
    elif below == 7 and isinstance(value, list) and value:
        value.append(copy.deepcopy(dice.one(value)))
    elif below == 8 and isinstance(value, list):
        value.append(copy.deepcopy(dice.one(ODD)))
    else:
        kind = document.get("kind", "v1alpha1")
        drawn = read(flow(writer.struct(writer.table.kinds[kind].type, 0)))[0]
        _merge(document, drawn, dice)
    return changed


def _merge(document: dict[str, Any], drawn: dict[str, Any], dice: Dice) -> None:
    """Take one leaf of what was drawn."""
    source, target = drawn, document
    while source:
        key = dice.one(list(source))
        if isinstance(source[key], dict) and isinstance(target.get(key, {}), dict):
            source, target = source[key], target.setdefault(key, {})
            continue
        if key not in ("apiVersion", "kind", "version"):
            target[key] = source[key]
        return


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    if isinstance(value, dict):
        for key, item in value.items():
            if key not in ("apiVersion", "kind"):
                yield value, key
            yield from _places(item)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield value, index
            yield from _places(item)


def contracts(minor: str) -> list[str]:
    """Styles that a minor takes: its own and those before."""
    return list(MINORS[: MINORS.index(minor) + 1])


def starts(minor: str) -> list[list[dict[str, Any]]]:
    """Configurations that Talos takes: of both roles in every style, and small ones."""
    documents_so_far = [
        read(base(contract, role))
        for contract in contracts(minor)
        for role in ("controlplane", "worker")
    ]
    documents_so_far += [rich("1.11", role) for role in ("controlplane", "worker")] * 8
    oldest = read(base("1.11", "worker"))[0]
    for document in good_documents(minor):
        documents_so_far += [[document], [oldest, document]]
    return documents_so_far


def cases(minor: str, count: int, seed: str) -> list[Case]:
    """So many configurations with a change."""
    begun = starts(minor)
    documents_so_far = []
    for number in range(count):
        dice = Dice(f"{minor}/{seed}/{number}")
        writer = Writer(minor, f"{seed}/{number}", wrong=0.4)
        start = dice.one(begun)
        documents = mutated(start, dice, writer)
        if dice.chance(20):
            documents = mutated(documents, dice, writer)
        mode = RuntimeMode.METAL if dice.chance(60) else RuntimeMode.CLOUD
        documents_so_far.append(Case(text_of(documents), mode, dice.chance(30)))
    return documents_so_far
