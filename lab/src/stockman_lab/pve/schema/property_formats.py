"""Property strings such as `virtio,bridge=vmbr0,tag=62`, and the named formats that are such."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from stockman_lab.pve.property_pairs import BadPairs, read_pairs
from stockman_lab.pve.schema.rule import (
    BROKEN_KEYS,
    MISSING,
    NOT_DEFINED,
    Check,
    Rule,
    add_problem,
    integer,
    needs_text,
)
from stockman_lab.pve.schema.shape import Part, Shape

Validator = Callable[[Mapping[str, str]], str | None]
"""Looks at all keys together; what is wrong, None if nothing."""


class PropertyString:
    """The format of one property string."""

    def __init__(
        self,
        keys: Mapping[str, Part],
        formats: Callable[[Shape], Check | None],
        profile: str,
        validator: Validator | None = None,
    ) -> None:
        self._keys = {name: key.shape for name, key in keys.items()}
        self._rules = {name: Rule(shape, formats) for name, shape in self._keys.items()}
        self._required = [
            name for name, key in keys.items() if not (key.optional or key.shape.alias)
        ]
        self._bare = next((name for name, shape in self._keys.items() if shape.bare), "")
        self._profile = profile
        self._validator = validator

    def problem(self, text: str, path: str) -> str | None:
        """What is wrong with a text; None if nothing."""
        try:
            values = self.values(text)
        except BadPairs as error:
            return f"{error}\n"
        if errors := self._errors(values, path):
            return BROKEN_KEYS + "".join(f"{key}: {why}\n" for key, why in errors.items())
        broken = self._validator(values) if self._validator else None
        return None if broken is None else f"{broken}\n"

    def values(self, text: str) -> dict[str, str]:
        """Keys and values, aliases resolved; raises `BadPairs`."""
        return read_pairs(text, self._keys, self._bare, is_old=self._profile == "8.4")

    def _errors(self, values: Mapping[str, str], path: str) -> dict[str, str]:
        errors: dict[str, str] = {}
        for name in self._required:
            if name not in values:
                add_problem(errors, f"{path}.{name}", MISSING)
        for name, value in values.items():
            place = f"{path}.{name}"
            rule = self._rules.get(name)
            if rule is None:
                add_problem(errors, place, NOT_DEFINED)
                continue
            if (problem := rule.problem(value, place)) is not None:
                add_problem(errors, place, problem)
            if rule.needs and rule.needs not in values:
                add_problem(errors, f"{path}.{rule.needs}", needs_text(self._profile, place))
        return errors


Keys = Mapping[str, Part]

_UUID = r"[a-fA-F0-9]{8}(?:-[a-fA-F0-9]{4}){3}-[a-fA-F0-9]{12}"
_BASE64 = r"[A-Za-z0-9+\/]+={0,2}"
_PCI = r"(?:[a-f0-9]{4,}:)?[a-f0-9]{2}:[a-f0-9]{2}(?:\.[a-f0-9])?"
_HEX_ID = r"(?:^0x[0-9a-fA-F]{4}$)"
_ANY_FLAG = r"(?:([+-])([a-zA-Z0-9\-_\.]+))"

_MODEL = re.compile(
    r"host|max|486|qemu(32|64)|kvm(32|64)|x86-64-v[234](-AES)?|pentium[23]?|athlon"
    r"|phenom|core(2?)duo|(a64fx|cortex|neoverse|Opteron|EPYC|Conroe|Penryn|Nehalem|Westmere"
    r"|SandyBridge|IvyBridge|Haswell|Broadwell|Skylake|Cascadelake|Cooperlake|Icelake"
    r"|SapphireRapids|GraniteRapids|SierraForest|ClearwaterForest|KnightsMill)[A-Za-z0-9_-]*"
)
_CPU_FLAGS = (
    "aes", "amd-no-ssb", "amd-ssbd", "hv-evmcs", "hv-tlbflush", "ibpb", "md-clear",
    "nested-virt", "pcid", "pdpe1gb", "spec-ctrl", "ssbd", "virt-ssbd",
)  # fmt: skip

_FLAG = Part(Shape("boolean"), optional=True)
_WHOLE = Part(Shape("integer"), optional=True)
_COUNT = Part(Shape("integer", least=0), optional=True)


def _form(name: str) -> Part:
    return Part(Shape("string", form=name), optional=True)


def _like(pattern: str) -> Part:
    return Part(Shape("string", pattern=pattern), optional=True)


def _of(*options: str) -> Part:
    return Part(Shape("string", options=options), optional=True)


def _bare(part: Part) -> Part:
    shape = part.shape
    return Part(
        Shape(shape.kind, form=shape.form, options=shape.options, pattern=shape.pattern, bare=True),
        part.optional,
    )


_TEXT = Part(Shape("string"), optional=True)
_CPU: dict[str, Part] = {
    "cputype": _bare(_TEXT),
    "flags": _like(f"(?:{_ANY_FLAG}(;{_ANY_FLAG})*)"),
    "hidden": _FLAG,
    "hv-vendor-id": _like("(?:[a-zA-Z0-9]{1,12})"),
    "phys-bits": _form("pve-phys-bits"),
}
_HOSTPCI: dict[str, Part] = {
    "host": _bare(_like(f"(?:{_PCI}(;{_PCI})*)")),
    "device-id": _like(_HEX_ID),
    "legacy-igd": _FLAG,
    "mapping": _form("pve-configid"),
    "mdev": _like(r"[^/\.:]+"),
    "pcie": _FLAG,
    "rombar": _FLAG,
    "romfile": _like("[^,;]+"),
    "sub-device-id": _like(_HEX_ID),
    "sub-vendor-id": _like(_HEX_ID),
    "vendor-id": _like(_HEX_ID),
    "x-vga": _FLAG,
}
_SMBIOS: dict[str, Part] = {
    "base64": _FLAG,
    "family": _like(_BASE64),
    "manufacturer": _like(_BASE64),
    "product": _like(_BASE64),
    "serial": _like(_BASE64),
    "sku": _like(_BASE64),
    "uuid": _like(_UUID),
    "version": _like(_BASE64),
}
_KEEP = ("last", "hourly", "daily", "weekly", "monthly", "yearly")

_FORMATS: dict[str, Keys] = {
    "backup-fleecing": {
        "enabled": Part(Shape("boolean", bare=True), optional=True),
        "storage": _form("pve-storage-id"),
    },
    "backup-performance": {
        "max-workers": Part(Shape("integer", least=1, most=256), optional=True),
        "pbs-entries-max": Part(Shape("integer", least=1), optional=True),
    },
    "prune-backups": {"keep-all": _FLAG} | {f"keep-{span}": _COUNT for span in _KEEP},
    "pve-qm-boot": {
        "legacy": _bare(_like("[acdn]{1,4}")),
        "order": _form("pve-qm-bootdev-list"),
    },
    "pve-qm-cicustom": {
        name: _form("pve-volume-id") for name in ("meta", "network", "user", "vendor")
    },
    "pve-qm-ipconfig": {
        "gw": Part(Shape("string", form="ipv4", needs="ip"), optional=True),
        "gw6": Part(Shape("string", form="ipv6", needs="ip6"), optional=True),
        "ip": _form("pve-ipv4-config"),
        "ip6": _form("pve-ipv6-config"),
    },
    "pve-qm-rng": {
        "source": Part(
            Shape("string", options=("/dev/urandom", "/dev/random", "/dev/hwrng"), bare=True)
        ),
        "max_bytes": _WHOLE,
        "period": _WHOLE,
    },
    "pve-qm-smbios1": _SMBIOS,
    "pve-qm-watchdog": {
        "model": _bare(_of("i6300esb", "ib700")),
        "action": _of("reset", "shutdown", "poweroff", "pause", "debug", "none"),
    },
}


def keys(profile: str) -> dict[str, Keys]:
    """The keys of each named property string."""
    new = profile != "8.4"
    bits = {"guest-phys-bits": Part(Shape("integer", least=32, most=64), optional=True)}
    driver = {"driver": _of("vfio", "keep")}
    return _FORMATS | {
        "pve-vm-cpu-conf": _CPU | (bits if new else {}),
        "pve-qm-hostpci": _HOSTPCI | (driver if new else {}),
    }


def _fleecing_problem(values: Mapping[str, str]) -> str | None:
    if values.get("enabled") == "1" and values.get("storage", "0") == "0":
        return "'storage' parameter is required when 'enabled' is set"
    return None


def _retention_problem(values: Mapping[str, str]) -> str | None:
    counted = any(integer(value) > 0 for key, value in values.items() if key != "keep-all")
    if counted and values.get("keep-all") == "1":
        return "keep-all cannot be set together with other options."
    return None


def _cpu_problem(values: Mapping[str, str]) -> str | None:
    model = values.get("cputype", "0")
    if model == "0":
        return "CPU is missing cputype"
    if model.startswith("custom-"):
        return f"Custom cputype '{model.removeprefix('custom-')}' not found"
    if not _MODEL.fullmatch(model):
        return f"Built-in cputype '{model}' is not defined (missing 'custom-' prefix?)"
    flags = values.get("flags", "")
    if any(flag.lstrip("+-") not in _CPU_FLAGS for flag in flags.split(";") if flag):
        return f"VM-specific CPU flags must be a subset of: {', '.join(_CPU_FLAGS)}"
    return None


VALIDATORS: dict[str, Validator] = {
    "backup-fleecing": _fleecing_problem,
    "prune-backups": _retention_problem,
    "pve-vm-cpu-conf": _cpu_problem,
}
"""What holds between the keys of a format."""
