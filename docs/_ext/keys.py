"""Pages of the configuration's keys: one for each section, one for the flat keys."""

from __future__ import annotations

from collections.abc import Iterator

from docs._ext.link_targets import GENERATED, of_key
from docs._ext.markdown import code, contents, page, table
from stockman.config.reference.explain import default_text, range_text
from stockman.config.reference.keys import Key, all_keys, child_keys, flat_keys


def pages() -> dict[str, str]:
    """Return page texts by path below `docs`, without suffix."""
    texts = {f"{GENERATED}/keys/index": _overview(), f"{GENERATED}/keys/flat": _flat()}
    for section in _sections():
        texts[of_key(section.path).page] = _section(section)
    return texts


def _sections() -> tuple[Key, ...]:
    return tuple(key for key in all_keys() if not key.parent)


def _overview() -> str:
    return page(
        "# Keys",
        "",
        "All keys of the configuration; `stockman explain KEY` prints the same texts. See also the",
        "[configuration language](../../config.md).",
        "",
        "The flat keys of `cluster.yaml`, known from cluster-template, are on [their own",
        "page](flat.md). Each is another name of a key in a section.",
        "",
        table(
            ("Section", "File", "Meaning"),
            ((code(key.path), code(key.file), key.docs) for key in _sections()),
        ),
        "In `cluster.toml` every section is a table, or a list of tables.",
        "",
        contents(["flat", *(key.path for key in _sections())]),
    )


def _flat() -> str:
    return page(
        "# Flat keys of cluster.yaml",
        "",
        "Each is another name of a key in a section. Use only one of them.",
        "",
        *(line for key in flat_keys() for line in _entry(key)),
    )


def _section(section: Key) -> str:
    blocks = [section, *(key for key in child_keys(section, recursive=True) if child_keys(key))]
    return page(f"# {section.path}", "", *(line for key in blocks for line in _block(key, section)))


def _block(key: Key, section: Key) -> Iterator[str]:
    if key is not section:
        yield f"({of_key(key.path).anchor})="
        yield f"## {key.path}"
        yield ""
    else:
        yield f"[]{{#{of_key(key.path).anchor}}}"
    yield f"{key.docs} {_not_written(key)}".rstrip()
    yield ""
    yield f"{_capital(key.type)}; {code(key.path)} in {key.file}, {code(key.toml)} in cluster.toml."
    yield ""
    for inner in child_keys(key):
        yield from _entry(inner, short=True)


def _entry(key: Key, *, short: bool = False) -> Iterator[str]:
    target = of_key(key.path)
    name = code(key.name if short else key.path)
    if short and child_keys(key):
        yield f"[{name}](#{target.anchor})"
    else:
        yield f"{name}{{#{target.anchor}}}"
    yield f": {key.docs or _capital(key.absent)}"
    yield f": {' '.join(_facts(key))}"
    yield ""


def _facts(key: Key) -> Iterator[str]:
    limits = range_text(key)
    yield f"*{_capital(key.type)}*{f', {limits}' if limits else ''}."
    if key.form:
        yield f"Form: {key.form}."
    if key.secret:
        yield "Written as `${NAME}`, `file:path`, `sops:path#key`, or encrypted by SOPS."
    if key.required:
        yield "Required."
    elif key.default:
        yield f"Default: {code(key.default)}{f' ({key.absent})' if key.absent else ''}."
    elif key.absent and key.absent in key.docs:
        yield "Default: not set."
    elif key.absent or not child_keys(key):
        yield f"Default: {default_text(key)}."
    if key.examples and not key.default and not key.secret:
        yield f"Example: {', '.join(code(example) for example in key.examples)}."
    if key.same_as:
        yield f"Another name of {code(key.same_as)}; in cluster.toml {code(key.toml)}."
    if key.classic:
        flat = " and ".join(code(name) for name in key.classic)
        yield f"Flat in cluster.yaml: {flat}."


def _not_written(key: Key) -> str:
    return f"Not set: {key.absent}." if key.absent and key.absent not in key.docs else ""


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
