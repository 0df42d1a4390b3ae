"""Blanks in descriptions of charts: `{release}`, `{.path.of.a.value}`, `{.path|what else}`.

A text that is one blank becomes what it stands for, with its type; what it stands for can be
missing, and with it goes the key or the entry, and a mapping of which nothing is left. After the
bar, `@name` is one of the plain blanks; `{=item.size}` is always a text, whatever it stands for.
What stands under the key `+` of a mapping is poured into it. An entry with `when` is only there if
that is true, with `unless` if it is not; one with `each` is there once for every entry of a list,
which is called `item` in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from stockman_lab.kube.objects import Object, Tree

_BLANK = re.compile(r"\{(=?)(\.[\w.\-]+|item(?:\.[\w.\-]+)?|[a-z]+)(?:\|([^{}]*))?\}")
_NAMED = re.compile(r"@([a-z]+)")
_RELEASE_NAME = re.compile(r"\{\{ *\.Release\.Name *\}\}")
_WORDS = frozenset({"when", "unless", "each"})
_POURED = "+"
_PLAIN: dict[str, Tree] = {"true": True, "false": False, "": None, "{}": {}, "[]": []}


@dataclass(frozen=True, slots=True)
class Scope:
    """What blanks stand for."""

    names: Mapping[str, str]
    values: Object
    item: Tree = None

    def _expanded(self, value: Tree) -> Tree:
        """Return a value as the template function `tpl` does, as far as values of ours need it."""
        if isinstance(value, list):
            return [self._expanded(entry) for entry in value]
        if isinstance(value, str) and "{{" in value:
            return _RELEASE_NAME.sub(self.names.get("release", ""), value)
        return value

    def looked_up(self, name: str, otherwise: str | None) -> Tree:
        """What a blank stands for; None: nothing."""
        if name.startswith("."):
            inside = self._expanded(_inside(self.values, name[1:]))
        elif name == "item" or name.startswith("item."):
            inside = _inside(self.item, name[5:])
        else:
            inside = self.names.get(name)
        if (inside is None or inside == "") and otherwise is not None:
            return _plain(_NAMED.sub(lambda one: self.names.get(one[1], ""), otherwise))
        return inside


def filled(tree: Tree, scope: Scope) -> Tree:
    """A tree without blanks."""
    if isinstance(tree, str):
        return _text(tree, scope)
    if isinstance(tree, list):
        return [one for entry in tree for one in _entries(entry, scope)]
    if isinstance(tree, dict):
        result = {str(_text(name, scope)): filled(one, scope) for name, one in tree.items()}
        result.update(result.pop(_POURED, None) or {})
        kept = {name: one for name, one in result.items() if one is not None}
        return kept if kept or not tree else None
    return tree


def _entries(entry: Tree, scope: Scope) -> Iterator[Tree]:
    if not isinstance(entry, dict) or not (_WORDS & set(entry)):
        one = filled(entry, scope)
        if one is not None:
            yield one
        return
    inner = {name: one for name, one in entry.items() if name not in _WORDS}
    items = filled(entry["each"], scope) if "each" in entry else [scope.item]
    for item in items or ():
        within = replace(scope, item=item)
        if filled(entry.get("when", True), within) and not filled(entry.get("unless"), within):
            yield filled(inner, within)


def _text(text: str, scope: Scope) -> Tree:
    match = _BLANK.fullmatch(text)
    if match is not None:
        looked_up = scope.looked_up(match[2], match[3])
        return looked_up if looked_up is None or not match[1] else _shown(looked_up)
    return _BLANK.sub(lambda one: _shown(scope.looked_up(one[2], one[3])), text)


def _shown(value: Tree) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)


def _plain(text: str) -> Tree:
    if text in _PLAIN:
        return _PLAIN[text]
    return int(text) if text.isdigit() else text


def _inside(tree: Tree, path: str) -> Tree:
    for name in filter(None, path.split(".")):
        tree = tree.get(name) if isinstance(tree, dict) else None
    return tree
