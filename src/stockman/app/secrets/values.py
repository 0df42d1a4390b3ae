"""Get and set single values or whole contents of secret files."""

from __future__ import annotations

import json
from pathlib import Path

from stockman.app.secrets import problems as trouble
from stockman.app.secrets.bundle import check_bundle, is_bundle_name
from stockman.app.secrets.store import SecretStore
from stockman.crypto.sops.contents import PlainData, data_at, format_value, list_paths, to_data
from stockman.crypto.sops.paths import ValuePath as Steps
from stockman.crypto.sops.paths import format_path, parse_path
from stockman.crypto.sops.scalars import INT_MAX, INT_MIN, SopsValue
from stockman.crypto.sops.update import NewValue, value_at
from stockman.model.errors import WrongUsage

_LONGEST = 64 << 20


def read_all(store: SecretStore, name: str) -> PlainData:
    """Return the whole content of a file."""
    return to_data(store.open(name))


def read_value_at(store: SecretStore, name: str, path: str) -> PlainData:
    """Return the value at a path of a file, also a mapping or a list."""
    return data_at(store.open(name), steps(path))


def read_text_at(store: SecretStore, name: str, path: str) -> bytes:
    """Return a single value at a path as bytes."""
    value = value_at(store.open(name), steps(path))
    return format_value(value).encode("utf-8", "surrogateescape")


def paths_in(store: SecretStore, name: str, path: str | None) -> tuple[str, ...]:
    """Return the paths of all values of a file, or of those below a path."""
    above = steps(path) if path else ()
    matching = [path_ for path_ in list_paths(store.open(name)) if path_[: len(above)] == above]
    return tuple(format_path(path_) for path_ in matching)


def put_value(
    store: SecretStore, name: str, path: str, content: bytes, *, as_json: bool = False
) -> bool:
    """Set a value at a path of a file; return whether it changed."""
    where = steps(path)
    value = _json_value(content) if as_json else _text(content)
    return store.set_value(name, NewValue(path=where, value=value))


def put_all(store: SecretStore, name: str, content: bytes) -> bool:
    """Replace the content of a file; return whether it changed."""
    if is_bundle_name(name):
        check_bundle(name, content)
    return store.write(name, content)


def value_from_file(source: Path) -> bytes:
    """Return the content of a file as a value."""
    try:
        with source.open("rb") as file:
            content = file.read(_LONGEST + 1)
    except OSError as error:
        raise trouble.unreadable_file(str(source), error.strerror or type(error).__name__) from None
    if len(content) > _LONGEST:
        raise trouble.unreadable_file(str(source), "it is larger than 64 MiB")
    return content


def value_from_stdin(content: bytes) -> bytes:
    """Return the value from stdin; refuse empty input, which a failed command produces."""
    if not content:
        raise trouble.bad_value("nothing came from stdin")
    return content


def steps(path: str) -> Steps:
    """Parse a path that a user typed."""
    try:
        return parse_path(path)
    except ValueError as error:
        raise WrongUsage(trouble.bad_path(path, str(error))) from None


def _text(content: bytes) -> str:
    """Return the value in a text, without the newline after a single line."""
    try:
        text = content.decode()
    except UnicodeDecodeError:
        raise trouble.bad_value("it is not UTF-8 text") from None
    line = text.removesuffix("\n").removesuffix("\r")
    return text if "\n" in line else line


def _json_value(content: bytes) -> SopsValue:
    try:
        value: object = json.loads(content)
    except ValueError:
        raise trouble.bad_value("it is no JSON") from None
    if isinstance(value, int) and not INT_MIN <= value <= INT_MAX:
        raise trouble.bad_value("SOPS holds whole numbers of 64 bits")
    if value is None or not isinstance(value, str | int | float):
        raise trouble.bad_value("it is no text, number, true or false")
    return value
