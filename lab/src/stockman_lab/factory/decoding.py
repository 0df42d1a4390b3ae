"""Schematics as the factory reads them: YAML or JSON, decoded strictly, refused in Go's words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast

from stockman.talos.schematic import Bootloader, EnrollKeys, ImageSchematic, MetaValue, Overlay

if TYPE_CHECKING:
    import yaml

T = TypeVar("T")
_STR, _INT, _FLOAT = "!!str", "!!int", "!!float"
_NULL = frozenset({"", "~", "null", "Null", "NULL"})
_TRUE = frozenset({"true", "True", "TRUE"})
_FALSE = frozenset({"false", "False", "FALSE"})
_OLD_TRUE = frozenset({"y", "Y", "yes", "Yes", "YES", "on", "On", "ON"})
_OLD_FALSE = frozenset({"n", "N", "no", "No", "NO", "off", "Off", "OFF"})
_WHOLE = re.compile(r"[-+]?(0x[0-9a-fA-F_]+|0o[0-7_]+|0b[01_]+|[0-9][0-9_]*)")
_REAL = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_WORDS = (
    (re.compile("expected the node content.*", re.DOTALL), "did not find expected node content"),
    (re.compile("expected (.*), but (?:got|found).*", re.DOTALL), r"did not find expected \1"),
    (re.compile("found character .* that"), "found character that"),
    (re.compile("not allowed here"), "not allowed in this context"),
)
"""How libraries of Python and of Go say the same."""
_MOST_NODES = 10_000
_MOST_DIGITS = 300
_MOST_LEVELS = 100
_BOOTLOADERS = ("none", "dual-boot", "sd-boot", "grub")


class _Mark(Protocol):
    line: int


class _Node(Protocol):
    """A node of PyYAML."""

    id: str
    value: Any
    start_mark: _Mark


class Undecodable(ValueError):
    """A text that is no schematic, in the words of the factory."""


def decoded(text: bytes) -> ImageSchematic:
    """The schematic of a text; raises `Undecodable`."""
    node = _composed(text)
    decoder = _Decoder()
    try:
        schematic = _schematic(decoder, node)
    except RecursionError:
        raise Undecodable("yaml: exceeded max depth of 10000") from None
    if decoder.errors:
        raise Undecodable("\n  ".join(["yaml: construct errors:", *decoder.errors]))
    return schematic


def _composed(text: bytes) -> _Node:
    import yaml

    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        _check_depth(yaml.parse(text, Loader=loader))
        node = next(iter(yaml.compose_all(text, Loader=loader)), None)
    except yaml.MarkedYAMLError as error:
        raise Undecodable(_malformed(error, len(text.splitlines()))) from None
    except (yaml.YAMLError, UnicodeDecodeError):
        raise Undecodable("yaml: control characters are not allowed") from None
    if node is None:
        raise Undecodable("EOF")
    return cast("_Node", node)


def _check_depth(events: Iterable[yaml.Event]) -> None:
    """Refuse what is nested too deeply, before anybody follows it down."""
    depth = 0
    for event in events:
        name = type(event).__name__
        depth += name.endswith("StartEvent") - name.endswith("EndEvent")
        if depth > _MOST_LEVELS:
            raise Undecodable("yaml: exceeded max depth of 10000")


def _malformed(error: yaml.MarkedYAMLError, lines: int) -> str:
    mark = error.problem_mark or error.context_mark
    line, column = (mark.line + 1, mark.column + 1) if mark is not None else (1, 1)
    line = min(line, max(lines, 1))  # the end of a text is on its last line
    problem = str(error.problem)
    for ours, theirs in _WORDS:
        problem = ours.sub(theirs, problem)
    if not error.context:
        return f"yaml: line {line}, column {column}: {problem}"
    return f"yaml: {error.context} at line {line}: {problem}"


def _schematic(decoder: _Decoder, node: _Node) -> ImageSchematic:
    top = decoder.members(
        node,
        "schematic.Schematic",
        {
            "owner": decoder.text,
            "overlay": lambda one: _overlay(decoder, one),
            "customization": lambda one: _customization(decoder, one),
        },
    )
    custom = cast("Mapping[str, object]", top.get("customization") or {})
    return ImageSchematic(
        owner=cast("str", top.get("owner", "")),
        overlay=cast("Overlay | None", top.get("overlay")),
        **custom,  # type: ignore[arg-type]  # each of them was made for its field
    )


def _overlay(decoder: _Decoder, node: _Node) -> Overlay:
    members = decoder.members(
        node,
        "schematic.Overlay",
        {"image": decoder.text, "name": decoder.text, "options": decoder.anything},
    )
    return Overlay(
        image=cast("str", members.get("image", "")),
        name=cast("str", members.get("name", "")),
        options=cast("dict[str, object]", members.get("options") or {}),
    )


def _customization(decoder: _Decoder, node: _Node) -> dict[str, object]:
    members = decoder.members(
        node,
        "schematic.Customization",
        {
            "embeddedMachineConfiguration": decoder.text,
            "extraKernelArgs": lambda one: decoder.items(one, "[]string", decoder.text),
            "meta": lambda one: decoder.items(
                one, "[]schematic.MetaValue", lambda item: _meta(decoder, item)
            ),
            "systemExtensions": lambda one: decoder.members(
                one,
                "schematic.SystemExtensions",
                {"officialExtensions": lambda two: decoder.items(two, "[]string", decoder.text)},
            ),
            "bootloader": decoder.bootloader,
            "secureboot": lambda one: decoder.members(
                one,
                "schematic.SecureBootCustomization",
                {"enrollKeys": decoder.text, "includeWellKnownCertificates": decoder.flag},
            ),
            "diskImage": lambda one: decoder.members(
                one,
                "schematic.DiskImageCustomization",
                {"sectorSize": lambda two: decoder.number(two, "uint", 1 << 64)},
            ),
        },
    )
    secure = cast("Mapping[str, object]", members.get("secureboot") or {})
    more = cast("Mapping[str, object]", members.get("systemExtensions") or {})
    disk = cast("Mapping[str, object]", members.get("diskImage") or {})
    return {
        "machine_configuration": members.get("embeddedMachineConfiguration", ""),
        "kernel_args": members.get("extraKernelArgs", ()),
        "meta": members.get("meta", ()),
        "extensions": more.get("officialExtensions", ()),
        "bootloader": cast("Bootloader | None", members.get("bootloader")),
        "enroll_keys": cast("EnrollKeys | None", secure.get("enrollKeys") or None),
        "well_known_certificates": secure.get("includeWellKnownCertificates", False),
        "sector_size": disk.get("sectorSize", 0),
    }


def _meta(decoder: _Decoder, node: _Node) -> MetaValue:
    members = decoder.members(
        node,
        "schematic.MetaValue",
        {"key": lambda one: decoder.number(one, "uint8", 256), "value": decoder.text},
    )
    return MetaValue(
        key=cast("int", members.get("key", 0)), value=cast("str", members.get("value", ""))
    )


class _Decoder:
    """Values out of nodes; what does not fit is written down, and decoding goes on."""

    def __init__(self) -> None:
        self.errors: list[str] = []
        self._freed = 0

    def members(
        self, node: _Node, kind: str, fields: Mapping[str, Callable[[_Node], object]]
    ) -> dict[str, object]:
        """The members of a mapping, each by its own reader; those that are null are left out."""
        if _is_null(node):
            return {}
        if node.id != "mapping":
            self._misfit(node, kind)
            return {}
        members: dict[str, object] = {}
        seen: dict[str, int] = {}
        for key, value in node.value:
            name = str(key.value)
            if name in seen:
                self._add(key, f'mapping key "{name}" already defined at line {seen[name]}')
                continue
            seen[name] = _line(key)
            if name not in fields:
                self._add(key, f"field {name} not found in type {kind}")
            elif not _is_null(value):
                members[name] = fields[name](value)
        return members

    def items(self, node: _Node, kind: str, read: Callable[[_Node], T]) -> tuple[T, ...]:
        if _is_null(node):
            return ()
        if node.id != "sequence":
            self._misfit(node, kind)
            return ()
        return tuple(read(one) for one in node.value if not _is_null(one))

    def text(self, node: _Node) -> str:
        if node.id != "scalar":
            self._misfit(node, "string")
            return ""
        return "" if _is_null(node) else str(node.value)

    def flag(self, node: _Node) -> bool:
        value = node.value
        if node.id == "scalar" and value in _TRUE | _OLD_TRUE:
            return True
        if node.id != "scalar" or value not in _FALSE | _OLD_FALSE:
            self._misfit(node, "bool")
        return False

    def number(self, node: _Node, kind: str, limit: int) -> int:
        value = _whole(node)
        if value is None or not 0 <= value < limit:
            self._misfit(node, kind)
            return 0
        return value

    def bootloader(self, node: _Node) -> str | None:
        if node.id != "scalar":
            self._misfit(node, "imageropts.BootloaderKind (TextUnmarshaler)")
            return None
        name = str(node.value)
        if name.lower() not in _BOOTLOADERS:
            self._add(node, f"{name} does not belong to BootloaderKind values")
        return None if name.lower() == "none" else name.lower()

    def anything(self, node: _Node) -> object:
        """A mapping of whatever it holds."""
        if node.id != "mapping":
            self._misfit(node, "map[string]interface {}")
            return {}
        return self._free(node)

    def _free(self, node: _Node) -> object:
        """A value without a type of its own, as Go makes it out of YAML."""
        self._freed += 1
        if self._freed > _MOST_NODES:
            raise Undecodable("yaml: document contains excessive aliasing")
        if node.id == "mapping":
            return {str(key.value): self._free(value) for key, value in node.value}
        if node.id == "sequence":
            return [self._free(one) for one in node.value]
        return _scalar(node)

    def _misfit(self, node: _Node, kind: str) -> None:
        shown = f" `{node.value}`" if node.id == "scalar" else ""
        self._add(node, f"cannot construct {_tag(node)}{shown} into {kind}")

    def _add(self, node: _Node, text: str) -> None:
        self.errors.append(f"line {_line(node)}: {text}")


def _line(node: _Node) -> int:
    return int(node.start_mark.line) + 1


def _is_plain(node: _Node) -> bool:
    return node.id == "scalar" and not getattr(node, "style", None)


def _is_null(node: _Node) -> bool:
    return _is_plain(node) and node.value in _NULL


def _tag(node: _Node) -> str:
    if node.id != "scalar":
        return "!!map" if node.id == "mapping" else "!!seq"
    if not _is_plain(node):
        return _STR
    if _WHOLE.fullmatch(node.value):
        return _INT
    if _REAL.fullmatch(node.value):
        return _FLOAT
    return "!!bool" if node.value in _TRUE | _FALSE else _STR


def _whole(node: _Node) -> int | None:
    if len(node.value) > _MOST_DIGITS:
        return None
    if _tag(node) == _INT:
        text = node.value.replace("_", "")
        is_octal = re.fullmatch(r"[-+]?0[0-7]+", text)
        return int(text, 8 if is_octal else 0)
    if _tag(node) == _FLOAT and float(node.value).is_integer():
        return int(float(node.value))
    return None


def _scalar(node: _Node) -> object:
    if _is_null(node):
        return None
    tag = _tag(node)
    if tag == _INT:
        return _whole(node)
    if tag == _FLOAT:
        return float(node.value)
    return node.value in _TRUE if tag == "!!bool" else str(node.value)
