"""The kernel command line that an image boots with."""

from __future__ import annotations

from dataclasses import dataclass

from stockman.model.version import Version

_OVERWRITTEN = ("console", "talos.platform")
_IMA = ("ima_template=ima-ng", "ima_appraise=fix", "ima_hash=sha512")


@dataclass(frozen=True, slots=True, kw_only=True)
class Booted:
    """What the command line of an image depends on."""

    platform: str
    version: str
    architecture: str = "amd64"
    secure_boot: bool = False
    is_iso: bool = False
    extra: tuple[str, ...] = ()
    """Those of the schematic: `-name` takes one away, `console` replaces all that were there."""


def kernel_line(booted: Booted) -> str:
    """The arguments in the order in which Talos writes them."""
    line = Version.parse(booted.version).line
    arguments: dict[str, list[str]] = {}
    for one in (*_of_platform(booted), *_defaults(line)):
        _append(arguments, one)
    if booted.secure_boot and line < (1, 14):
        _append(arguments, "lockdown=confidentiality")
    _customize(arguments, booted.extra)
    return " ".join(
        f"{name}={value}" if value else name
        for name, values in arguments.items()
        for value in values
    )


def _of_platform(booted: Booted) -> tuple[str, ...]:
    own = [f"talos.platform={booted.platform}"]
    if booted.platform == "nocloud":
        own += ["console=tty1", "console=ttyS0", "net.ifnames=0"]
    elif booted.platform == "metal":
        own += ["console=ttyAMA0"] if booted.architecture == "arm64" else []
        own += ["console=tty0"]
    else:
        own += ["console=tty1", "console=ttyS0"]
    return (*own, "talos.halt_if_installed=1") if booted.is_iso else tuple(own)


def _defaults(line: tuple[int, int]) -> tuple[str, ...]:
    defaults = [] if line >= (1, 14) else ["init_on_alloc=1"]
    defaults += ["slab_nomerge", "pti=on", "consoleblank=0"]
    defaults += [] if line >= (1, 14) else ["nvme_core.io_timeout=4294967295"]
    defaults += ["printk.devkmsg=on"]
    defaults += _IMA if line < (1, 11) else ()
    defaults += ["selinux=1"] if line >= (1, 10) else []
    defaults += ["module.sig_enforce=1"] if line >= (1, 12) else []
    defaults += ["proc_mem.force_override=never"] if line >= (1, 13) else []
    return tuple(defaults)


def _customize(arguments: dict[str, list[str]], extra: tuple[str, ...]) -> None:
    given: dict[str, list[str]] = {}
    for text in " ".join(extra).split():
        _append(given, text)
    for name, values in given.items():
        if len(name) > 1 and name.startswith("-"):
            _remove(arguments, name[1:], values)
        elif name in _OVERWRITTEN:
            arguments[name] = values
        else:
            arguments.setdefault(name, []).extend(values)


def _remove(arguments: dict[str, list[str]], name: str, values: list[str]) -> None:
    if values[0] == "":
        arguments.pop(name, None)
        return
    left = [one for one in arguments.get(name, []) if one not in values]
    if left:
        arguments[name] = left
    else:
        arguments.pop(name, None)


def _append(arguments: dict[str, list[str]], text: str) -> None:
    name, _, value = text.partition("=")
    arguments.setdefault(name, []).append(value)
