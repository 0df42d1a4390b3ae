"""What Talos says of a problem, where its words are known."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from stockman.model.problem import Problem
from stockman_lab.talos.config.wording_documents import DOCUMENTS
from stockman_lab.talos.config.wording_form import LATER, Wording
from stockman_lab.talos.config.wording_oldest import OLDEST


def worded(problem: Problem, value: str, minor: str) -> Wording:
    """The wording of a problem, filled in; our own words where Talos' are not known."""
    ours = f"{problem.what} | {problem.why}"
    for wording in _known().get(problem.code, ()):
        match = _pattern(wording.found).search(ours)
        if match is not None:
            names = {"value": value, "scheme": value.partition(":")[0], **_groups(match)}
            said = _filled(wording.said, names, minor)
            return Wording(wording.code, "", said, wording.is_whole)
    return Wording(problem.code, "", problem.what)


def _filled(said: str, names: Mapping[str, str], minor: str) -> str:
    for text, since in LATER.get(said, ()):
        if minor >= since:
            said = text
    return said.format(**names)


def _groups(match: re.Match[str]) -> dict[str, str]:
    """What the names of a pattern stand for: `list_` ones as Go prints lists of texts.

    `column` and `after` are characters of an expression, `dots` what points to them.
    """
    texts = {}
    for name, text in match.groupdict().items():
        items = (text or "").split(", ")
        texts[name] = " ".join(f'"{one}"' for one in items) if "list_" in name else text or ""
        texts[f"{name}_upper"] = texts[name].upper()
        if name in ("column", "after"):
            column = int(texts[name]) - (1 if name == "after" else 0)
            texts |= {"column": str(column), "dots": "." * (column - 1)}
    return texts


@cache
def _pattern(found: str) -> re.Pattern[str]:
    return re.compile(found)


@cache
def _known() -> dict[str, list[Wording]]:
    known: dict[str, list[Wording]] = {}
    for wording in (*OLDEST, *DOCUMENTS):
        known.setdefault(wording.code, []).append(wording)
    return known
