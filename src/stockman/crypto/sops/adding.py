"""A value put at any path of an encrypted file: where there is none yet, keys are added."""

from __future__ import annotations

from collections.abc import Sequence

from stockman.crypto.age.identities import Identity
from stockman.crypto.sops import problems
from stockman.crypto.sops.edits import Edit, edited
from stockman.crypto.sops.forms import Form, form_of, plain_sheet, quoted
from stockman.crypto.sops.go_yaml import needs_quotes
from stockman.crypto.sops.lookup import NewValue, child, with_value
from stockman.crypto.sops.opening import opened
from stockman.crypto.sops.paths import Path, shown_path
from stockman.crypto.sops.plain_text import json_text, yaml_text
from stockman.crypto.sops.revealing import leaf_edit, plaintext
from stockman.crypto.sops.scalars import same
from stockman.crypto.sops.sealing import Fresh
from stockman.crypto.sops.stable import reencrypt
from stockman.crypto.sops.tree import METADATA_KEY, Branch, Items, Leaf, Node, Sheet, last_index
from stockman.model.errors import Refused, StockmanError
from stockman.model.pattern import pattern
from stockman.model.problem import Problem

_STEP = 2
_MEMBER = pattern(r"\n([ \t]+)\Z")


def with_value_at(
    content: bytes, file: str, new: NewValue, identities: Sequence[Identity], fresh: Fresh
) -> bytes:
    """An encrypted file with a value at a path; all that was there keeps its ciphertext."""
    old = opened(content, file, identities)
    plain = plaintext(old)
    found = _leaf(plain_sheet(plain, old.form, file), new.path)
    if found is not None and found.value is not None:
        return with_value(content, file, new, identities, fresh)
    return reencrypt(content, with_entry(plain, file, new), file, identities, fresh)


def with_entry(plain: bytes, file: str, new: NewValue) -> bytes:
    """A plaintext with a value at a path; an empty one becomes a file with that value alone."""
    form = form_of(file)
    if form is Form.BINARY:
        raise _no_place(file, new.path, "the file is one text without keys")
    sheet = plain_sheet(plain if plain.strip() else _empty(form), form, file)
    made = edited(sheet.text, [_edit(sheet, form, new)]).encode()
    if not _reads_back(made, form, file, new):
        raise problems.bad_layout(file)
    return made


def _empty(form: Form) -> bytes:
    return b"{}\n" if form is Form.JSON else b""


def _edit(sheet: Sheet, form: Form, new: NewValue) -> Edit:
    if not sheet.documents:
        return Edit(0, 0, _yaml_entries(new.path, new, 0) + "\n")
    node: Node = sheet.documents[0].root
    for depth, step in enumerate(new.path):
        if depth == 0 and step == METADATA_KEY:
            raise _no_place(sheet.file, new.path, "SOPS keeps its keys under that name")
        below = child(node, step, set())
        if below is None:
            return _added(sheet, form, node, new, depth)
        node = below
    if isinstance(node, Leaf):
        return _filled(sheet, form, node, new)
    raise _no_place(sheet.file, new.path, "a mapping or a list stands there")


def _filled(sheet: Sheet, form: Form, leaf: Leaf, new: NewValue) -> Edit:
    edit = leaf_edit(sheet, form, leaf, new.value)
    missing = leaf.start == leaf.end and not sheet.text[: leaf.start].endswith(" ")
    return edit._replace(text=f" {edit.text}") if missing else edit


def _added(sheet: Sheet, form: Form, node: Node, new: NewValue, depth: int) -> Edit:
    if isinstance(node, Leaf) and node.value is None and form is Form.YAML and not node.flow:
        text = _yaml_entries(new.path[depth:], new, node.column + _STEP)
        start = len(sheet.text[: node.start].rstrip(" "))
        return Edit(start, node.end, f"\n{' ' * (node.column + _STEP)}{text}")
    if not isinstance(node, Branch):
        above = shown_path(new.path[:depth])
        kind = "a list" if isinstance(node, Items) else "one value"
        raise _no_place(sheet.file, new.path, f"{above} is {kind} and has no such place")
    if node.flow:
        return _in_brackets(sheet, form, node, new, depth)
    text = _yaml_entries(new.path[depth:], new, node.column)
    end = sheet.text.find("\n", last_index(node))
    if end < 0:
        end = len(sheet.text)
    if not node.items and not node.column:
        return Edit(end, end, f"{text}\n")
    return Edit(end, end, f"\n{' ' * node.column}{text}")


def _yaml_entries(path: Path, new: NewValue, column: int) -> str:
    """Keys one below the other, and the value; the first line has no indentation."""
    text = ""
    for depth, step in enumerate(path):
        key = str(step)
        margin = f"\n{' ' * (column + depth * _STEP)}" if depth else ""
        text += f"{margin}{quoted(key) if needs_quotes(key) else key}:"
    leaf = Leaf(new.value, 0, 0, column=column + (len(path) - 1) * _STEP)
    return f"{text} {yaml_text(new.value, leaf, ends_line=True)}"


def _in_brackets(sheet: Sheet, form: Form, branch: Branch, new: NewValue, depth: int) -> Edit:
    leaf = Leaf(new.value, 0, 0, flow=True)
    in_json = form is Form.JSON
    text = json_text(new.value) if in_json else yaml_text(new.value, leaf, ends_line=False)
    for step in reversed(new.path[depth + 1 :]):
        text = f"{{{quoted(str(step))}: {text}}}"
    text = f"{quoted(str(new.path[depth]))}: {text}"
    entries = list(branch.entries())
    if not entries:
        return Edit(branch.start + 1, branch.start + 1, text)
    before = _MEMBER.search(sheet.text[: entries[0].start])
    gap = f",\n{before[1]}" if before else ", "
    place = last_index(entries[-1].node)
    return Edit(place, place, gap + text)


def _reads_back(made: bytes, form: Form, file: str, new: NewValue) -> bool:
    try:
        leaf = _leaf(plain_sheet(made, form, file), new.path)
    except StockmanError:
        return False
    return leaf is not None and same(leaf.value, new.value)


def _leaf(sheet: Sheet, path: Path) -> Leaf | None:
    node: Node | None = sheet.documents[0].root if sheet.documents else None
    for step in path:
        node = child(node, step, set())
    return node if isinstance(node, Leaf) else None


def _no_place(file: str, path: Path, why: str) -> Refused:
    shown = shown_path(path)
    return Refused(
        Problem(
            code="sops.no-place",
            what=f"no value can be put at {shown}",
            where=file,
            why=why,
            fix="change the file with `stockman secrets edit`, or correct the path",
        )
    )
