"""Values that no parameter of a request should have."""

from __future__ import annotations

NASTY: tuple[object, ...] = (
    "",
    "x" * 300,
    "ünïcode☃",
    "a\0b",
    "line\nline",
    "../../etc/passwd",
    "..",
    "/",
    "-1",
    "0",
    "99999999999999999999",
    "1e3",
    "0x10",
    "{}",
    "a=b,c=d",
    ",,,",
    "=",
    ":",
    "local:",
    ":disk",
    "%00",
    "' or 1",
    [],
    ["a", "b"],
    {"a": 1},
    True,
    False,
    None,
    1.5,
    -7,
)
"""What nobody should send; halves of surrogate pairs are not among it, as no door lets them in."""
