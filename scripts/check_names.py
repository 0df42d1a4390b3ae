"""Checks that names say what they hold: `python -m scripts.check_names [--list]`.

Measures two shares for each source tree: variables and parameters with a name that would fit
anything (`one`, `found`), and functions named with a past participle (`prepared`). A tree with a
share above its limit fails the check; `--list` prints every such name with its position.
"""

from __future__ import annotations

import argparse
import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]

FILLERS = frozenset(
    """
    one ones other others found told said made given wanted asked wish wishes who whom place places
    thing things something somebody nobody somewhere around here there what whole rest lot part
    parts no yes word words way ways matter news stuff door doors house land crowd farewell care
    """.split()  # noqa: SIM905  # a list of words
)
PREFIXES_OF_PREDICATES = (
    *("is_", "has_", "are_", "was_", "can_", "should_", "needs_"),
    *("to_", "from_", "test_", "on_", "visit_"),
)
NOT_PARTICIPLES = frozenset(
    "sorted reversed cached indexed need speed feed seed embed shed bed red fed led".split()  # noqa: SIM905
)
PARTICIPLE_LENGTH = 5
"""Shorter words that end with "ed" are no participles."""


class Limit(NamedTuple):
    """The largest shares of a source tree, in percent."""

    fillers: float
    participles: float


LIMITS = {
    "src/stockman": Limit(1.5, 4.0),
    **dict.fromkeys(
        ("lab/src", "lab/tests", "tests", "bench", "demo", "docs", "scripts", "tools"),
        Limit(6.0, 8.0),
    ),
}


class Name(NamedTuple):
    """An assigned name or a function, and whether it says too little."""

    text: str
    line: int
    is_function: bool
    is_vague: bool


class Shares(NamedTuple):
    """Percentages of vague names of both kinds."""

    fillers: float
    participles: float

    @classmethod
    def of(cls, names: list[Name]) -> Shares:
        return cls(_share(names, is_function=False), _share(names, is_function=True))


def _share(names: list[Name], *, is_function: bool) -> float:
    vague = [name.is_vague for name in names if name.is_function is is_function]
    return 100 * sum(vague) / max(len(vague), 1)


def names_of(source: str) -> Iterator[Name]:
    """All names that a module assigns, and its functions except for properties."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.FunctionDef(name=text) | ast.AsyncFunctionDef(name=text):
                if not _is_noun(node):
                    yield Name(f"{text}()", node.lineno, True, _is_participle(text))
            case ast.Name(id=text, ctx=ast.Store()) | ast.arg(arg=text):
                yield Name(text, node.lineno, False, text.strip("_") in FILLERS)
            case ast.ExceptHandler(name=str(text)):
                yield Name(text, node.lineno, False, text.strip("_") in FILLERS)
            case _:
                pass


def _is_noun(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a function is read like a value: a property, a validator, a fixture of pytest."""
    decorators = map(ast.unparse, function.decorator_list)
    return any(
        kind in decorator
        for decorator in decorators
        for kind in ("property", "validator", "fixture")
    )


def _is_participle(name: str) -> bool:
    bare = name.strip("_")
    if not bare or bare.startswith(PREFIXES_OF_PREDICATES):
        return False
    ends = {bare.split("_")[0], bare.split("_")[-1]}
    return ends.isdisjoint(NOT_PARTICIPLES) and any(
        end.endswith("ed") and len(end) >= PARTICIPLE_LENGTH for end in ends
    )


def main() -> int:
    """Measure every tree; 1 if a share is above its limit."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--list", action="store_true", help="print every vague name")
    arguments = parser.parse_args()
    status = 0
    for tree, limit in LIMITS.items():
        names: list[Name] = []
        for path in sorted((ROOT / tree).rglob("*.py")):
            in_module = list(names_of(path.read_text("utf-8")))
            names += in_module
            if arguments.list:
                for name in in_module:
                    if name.is_vague:
                        print(f"{path.relative_to(ROOT)}:{name.line}: {name.text}")
        shares = Shares.of(names)
        if arguments.list:
            print(f"{tree}: {shares.fillers:.1f} % fillers, {shares.participles:.1f} % participles")
        for kind, share, most in zip(Shares._fields, shares, limit, strict=True):
            if share > most:
                status = 1
                print(
                    f"{tree}: {share:.1f} % of the names are {kind}, limit {most} %: "
                    "python -m scripts.check_names --list"
                )
    return status


if __name__ == "__main__":
    sys.exit(main())
