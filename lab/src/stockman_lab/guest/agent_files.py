"""Files that the agent opens, reads and writes."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Mapping

from stockman_lab.guest.inside import Inside
from stockman_lab.guest.system import AgentError

_READ, _MOST = 4096, 48 << 20
_MODES = frozenset({"r", "rb", "w", "wb", "a", "ab", "r+", "rb+", "w+", "wb+", "a+", "ab+"})
_FOLDERS = ("/", "/etc", "/root", "/tmp", "/var", "/var/tmp", "/var/lib", "/home", "/opt", "/run")


def content(inside: Inside, path: str) -> bytes | None:
    """What a file holds. None: there is none."""
    if path in inside.files:
        return base64.b64decode(inside.files[path])
    text = inside.own_files().get(path)
    return None if text is None else text.encode()


def _open(inside: Inside, arguments: Mapping[str, object], now: float) -> object:
    del now
    path, mode = str(arguments.get("path", "")), str(arguments.get("mode", "r"))
    if mode not in _MODES:
        raise AgentError(f"invalid file open mode '{mode}'")
    found = content(inside, path)
    cannot = f"failed to open file '{path}' (mode: '{mode}')"
    if path in _FOLDERS:
        raise AgentError(f"{cannot}: Is a directory")
    if found is None and (mode.startswith("r") or path.rpartition("/")[0] not in ("", *_FOLDERS)):
        raise AgentError(f"{cannot}: No such file or directory")
    if mode.startswith("w") or found is None:
        inside.files[path] = ""
        found = b""
    inside.last_handle += 1
    place = len(found) if mode.startswith("a") else 0
    inside.handles[str(inside.last_handle)] = {"path": path, "mode": mode, "place": place}
    return inside.last_handle


def _handle(inside: Inside, arguments: Mapping[str, object]) -> dict[str, object]:
    number = str(arguments.get("handle", ""))
    if number not in inside.handles:
        raise AgentError(f"handle '{number}' has not been found")
    return inside.handles[number]


def _read(inside: Inside, arguments: Mapping[str, object], now: float) -> object:
    del now
    handle = _handle(inside, arguments)
    count = _whole(arguments.get("count", _READ))
    if not 0 <= count < _MOST:
        raise AgentError(f"value '{count}' is invalid for argument count")
    place = _whole(handle["place"])
    held = content(inside, str(handle["path"])) or b""
    found = held[place : place + count]
    handle["place"] = place + len(found)
    return {
        "count": len(found),
        "buf-b64": base64.b64encode(found).decode(),
        "eof": len(found) < count,
    }


def _write(inside: Inside, arguments: Mapping[str, object], now: float) -> object:
    del now
    handle = _handle(inside, arguments)
    try:
        new = base64.b64decode(str(arguments.get("buf-b64", "")))
    except binascii.Error:
        raise AgentError("failed to write to file: Invalid argument") from None
    if str(handle["mode"]) in ("r", "rb"):
        raise AgentError("failed to write to file: Bad file descriptor")
    path, place = str(handle["path"]), _whole(handle["place"])
    held = (content(inside, path) or b"").ljust(place, b"\x00")
    inside.files[path] = base64.b64encode(held[:place] + new + held[place + len(new) :]).decode()
    handle["place"] = place + len(new)
    return {"count": len(new), "eof": False}


def _seek(inside: Inside, arguments: Mapping[str, object], now: float) -> object:
    del now
    handle = _handle(inside, arguments)
    end = len(content(inside, str(handle["path"])) or b"")
    starts = {"set": 0, "cur": _whole(handle["place"]), "end": end}
    whence = str(arguments.get("whence", "set"))
    if whence not in starts:
        raise AgentError(f"Parameter 'whence' does not accept value '{whence}'")
    start = starts[whence] + _whole(arguments.get("offset", 0))
    if start < 0:
        raise AgentError("failed to seek file: Invalid argument")
    handle["place"] = start
    return {"position": start, "eof": False}


def _close(inside: Inside, arguments: Mapping[str, object], now: float) -> object:
    del now
    _handle(inside, arguments)
    del inside.handles[str(arguments["handle"])]
    return {}


def _flush(inside: Inside, arguments: Mapping[str, object], now: float) -> object:
    del now
    _handle(inside, arguments)
    return {}


def _whole(value: object) -> int:
    return value if isinstance(value, int) else int(str(value))


ANSWERS: dict[str, Callable[[Inside, Mapping[str, object], float], object]] = {
    "file-open": _open,
    "file-read": _read,
    "file-write": _write,
    "file-seek": _seek,
    "file-flush": _flush,
    "file-close": _close,
}
