"""`/cluster/options`: settings of the whole, kept in `datacenter.cfg`."""

from __future__ import annotations

from stockman_lab.pve.api.call import Call
from stockman_lab.pve.api.registry import endpoint
from stockman_lab.pve.errors import die
from stockman_lab.pve.formats.lists import split_list
from stockman_lab.pve.schema.schema import Schema
from stockman_lab.pve.schema.shape import Part
from stockman_lab.pve.sections import texts

_PATH = "/cluster/options"
_PARSED = (
    "crs", "migration", "replication", "next-id", "ha", "notify", "u2f", "webauthn", "tag-style",
    "user-tag-access",
)  # fmt: skip
_FOR_EVERYBODY = ("console", "tag-style")
_MAC_PREFIX = "BC:24:11"
_LOWEST, _HIGHEST = 100, 1_000_000
_TRUE = ("1", "on", "yes", "true")


@endpoint("GET", _PATH)
def options(call: Call) -> object:
    """Settings, with those that hold several values taken apart."""
    found = {name: _shown(call, name, value) for name, value in _options_of(call).items()}
    if not call.may("/", "Sys.Audit"):
        found = {name: found[name] for name in _FOR_EVERYBODY if name in found}
    return found | {"allowed-tags": _allowed_tags(call)}


@endpoint("PUT", _PATH)
def change(call: Call) -> object:
    call.cluster.require_quorum("file-datacenter_cfg")
    wanted = call.cluster.state.options | texts(call.params, ("delete",))
    for name in split_list(call.text("delete")):
        wanted.pop(name, None)
    if wanted.get("mac_prefix", "").upper() == _MAC_PREFIX:
        del wanted["mac_prefix"]
    if wanted.get("console") == "applet":
        wanted["console"] = "html5"
    if not wanted.get("crs", "-"):
        del wanted["crs"]
    if "next-id" in wanted:
        _check_range(_pairs(wanted["next-id"], {}))
    call.cluster.state.options = wanted
    call.cluster.changed()
    return None


def _options_of(call: Call) -> dict[str, str]:
    stored = dict(call.cluster.state.options)
    description = stored.get("description", "").rstrip("\n")
    stored["description"] = f"{description}\n" if description else ""
    stored.setdefault("mac_prefix", _MAC_PREFIX)
    return stored


def _shown(call: Call, name: str, value: str) -> object:
    if name == "registered-tags":
        return split_list(value)
    if name not in _PARSED:
        return value
    shape = Schema.of(call.cluster.state.profile).operation("PUT", _PATH).parameters[name].shape
    pairs: dict[str, object] = dict(_pairs(value, shape.keys or {}))
    if "user-allow-list" in pairs:
        pairs["user-allow-list"] = split_list(str(pairs["user-allow-list"]))
    return pairs


def _pairs(text: str, keys: object) -> dict[str, object]:
    """A property string taken apart; the value that stands alone gets its name."""
    known: dict[str, Part] = keys if isinstance(keys, dict) else {}
    bare = next((name for name, part in known.items() if part.shape.bare), "")
    values: dict[str, object] = {}
    for piece in text.split(","):
        key, equals, value = piece.partition("=")
        if not equals:
            key, value = bare, piece
        if key:
            is_flag = key in known and known[key].shape.kind == "boolean"
            values[key] = int(value.lower() in _TRUE) if is_flag else value
    return values


def _check_range(given: dict[str, object]) -> None:
    lower = int(str(given.get("lower", _LOWEST)))
    upper = int(str(given.get("upper", _HIGHEST)))
    if lower > upper:
        raise die(f"lower ({lower}) <= upper ({upper}) boundary rule broken")


def _allowed_tags(call: Call) -> list[str]:
    """Tags that the caller may set: those in sight, those of a list, those of the cluster."""
    stored = call.cluster.state.options
    access = _pairs(stored.get("user-tag-access", ""), {})
    mode = access.get("user-allow", "free")
    allowed_tags: set[str] = set()
    if mode != "none":
        allowed_tags.update(split_list(str(access.get("user-allow-list", ""))))
    if mode in ("free", "existing"):
        for vmid, guest in call.cluster.state.guests.items():
            if call.may(f"/vms/{vmid}", "VM.Audit"):
                allowed_tags.update(split_list(guest.config.values.get("tags", "")))
    if call.may("/", "Sys.Modify"):
        allowed_tags.update(split_list(stored.get("registered-tags", "")))
    return sorted(allowed_tags)
