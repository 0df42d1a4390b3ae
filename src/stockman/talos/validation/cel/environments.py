"""Variables and functions that expressions may use, depending on their purpose."""

from __future__ import annotations

import json
from functools import cache

from stockman.model.package_file import read_package_text
from stockman.model.record import record
from stockman.talos.validation.cel.types import (
    BOOL,
    DOUBLE,
    DURATION,
    GLOB,
    INT,
    MAC,
    OPTIONAL,
    QOS,
    STANDARD,
    STRING,
    UINT,
    CelType,
    Functions,
    map_of,
    optional_of,
    parse_type,
)

_BLOCK = "talos.resource.definitions.block"
_DISK = CelType(f"{_BLOCK}.DiskSpec")
_VOLUME = CelType(f"{_BLOCK}.DiscoveredVolumeSpec")
_LINK = CelType("talos.resource.definitions.network.LinkStatusSpec")
_UNITS = dict.fromkeys(
    ("KiB", "kB", *(f"{letter}{unit}" for letter in "MGTPE" for unit in ("iB", "B"))), UINT
)
_CLASSES = dict.fromkeys(("Besteffort", "Burstable", "Guaranteed", "Podruntime", "System"), INT)
_PRESSURE = [
    f"memory_{share}_{span}"
    for share in ("some", "full")
    for span in ("avg10", "avg60", "avg300", "total")
]
_USAGE = ("memory_current", "memory_peak", "memory_max")
_BY_CLASS = map_of(INT, DOUBLE)


@record
class Environment:
    """Variables and functions of one purpose, and the required result type."""

    variables: dict[str, CelType]
    functions: Functions
    result: CelType
    has_optionals: bool = False


def _pressure_variables() -> dict[str, CelType]:
    variables = {f"{delta}{name}": DOUBLE for name in _PRESSURE for delta in ("", "d_")}
    variables |= {
        f"{delta}qos_{name}": _BY_CLASS for name in (*_PRESSURE, *_USAGE) for delta in ("", "d_")
    }
    return variables


DISK = Environment(
    variables={"disk": _DISK, "system_disk": BOOL, **_UNITS},
    functions={**STANDARD, **GLOB},
    result=BOOL,
)
VOLUME = Environment(
    variables={"volume": _VOLUME, "disk": _DISK, **_UNITS}, functions=STANDARD, result=BOOL
)
MEMBER = Environment(
    variables={
        "volume": _VOLUME,
        "disk": _DISK,
        "volume_id": STRING,
        "system_disk": BOOL,
        **_UNITS,
    },
    functions={**STANDARD, **GLOB},
    result=BOOL,
)
LINK = Environment(variables={"link": _LINK}, functions={**STANDARD, **GLOB, **MAC}, result=BOOL)
OOM_TRIGGER = Environment(
    variables={**_pressure_variables(), "time_since_trigger": DURATION, **_UNITS, **_CLASSES},
    functions={**STANDARD, **OPTIONAL, **QOS},
    result=BOOL,
    has_optionals=True,
)
OOM_RANKING = Environment(
    variables={
        **{name: optional_of(UINT) for name in _USAGE},
        "path": STRING,
        "class": INT,
        **_UNITS,
        **_CLASSES,
    },
    functions={**STANDARD, **OPTIONAL},
    result=DOUBLE,
    has_optionals=True,
)


@cache
def message_fields(minor: int) -> dict[str, dict[str, CelType]]:
    """Return the fields of every message that expressions may access in a minor."""
    text = read_package_text("stockman.talos.validation.types", f"1.{minor}.json")
    return {
        name: {field: parse_type(kind) for field, kind in fields.items()}
        for name, fields in json.loads(text)["messages"].items()
    }
