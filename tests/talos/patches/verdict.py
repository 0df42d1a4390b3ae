"""Ours and Talos' answer to a pair, in a form that can be compared."""

from __future__ import annotations

from stockman.model.origin import derivation
from stockman.talos.patches.apply import apply_patches, load_documents
from stockman.talos.patches.decode import Decoder
from stockman.talos.patches.encode import encode_tree
from stockman.talos.patches.patch import Patch, PatchRefused, read_documents
from stockman.talos.patches.schema import load_schema, plain_value
from tests.talos.patches.pairs import Pair

REFUSED = "refused"
Verdict = list[object] | str


def ours(pair: Pair, minor: str) -> Verdict:
    """The documents that we make of a pair, or that we refuse it."""
    try:
        documents = load_documents("config.yaml", pair.config, minor)
        patches = [
            Patch(label=f"patch {index}", file=f"patch-{index}.yaml", text=text)
            for index, text in enumerate(pair.patches)
        ]
        result = apply_patches(documents, patches, minor)
    except PatchRefused:
        return REFUSED
    return [plain_value(document.canonical()) for document in result]


def theirs(text: str | None, minor: str) -> Verdict:
    """The documents of a text that Talos printed. None: it refused."""
    if text is None:
        return REFUSED
    anything = load_schema(minor).type("any")
    decoder = Decoder(load_schema(minor), lambda node, path: derivation("Talos"))
    trees = [
        encode_tree(anything, decoder.decode(anything, node))
        for node in read_documents("talos.yaml", text)
    ]
    # Before 1.14 the deletion of a document that does not exist leaves an empty one behind.
    return [found for tree in trees if (found := plain_value(tree)) != {}]


def same(left: object, right: object) -> bool:
    """Equality that knows true from 1."""
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    return isinstance(left, bool) == isinstance(right, bool) and left == right


def disagreement(pair: Pair, minor: str, text: str | None) -> str:
    """What differs between our answer and Talos', for people. Empty: nothing."""
    mine, talos = ours(pair, minor), theirs(text, minor)
    if same(mine, talos):
        return ""
    patches = "\n=>\n".join(pair.patches)
    return f"{pair.config}\n=>\n{patches}\nstockman: {mine}\nTalos: {talos}"
