"""What is said about values that do not fit, word for word."""

from __future__ import annotations

from collections.abc import Iterable

MISSING = "property is missing and it is not optional"
NOT_DEFINED = (
    "property is not defined in schema and the schema does not allow additional properties"
)
NO_MATCH = "value does not match the regex pattern"
CONFLICT = "duplicate parameter (already defined in URI) with conflicting values!"
BROKEN_KEYS = "format error\n"


def wrong_kind(kind: str, got: str = "") -> str:
    """A value is not of its kind."""
    return f"type check ('{kind}') failed{got}"


def too_long(most: int) -> str:
    """A text has too many characters."""
    return f"value may only be {most} characters long"


def too_short(least: int) -> str:
    """A text has too few characters."""
    return f"value must be at least {least} characters long"


def too_small(least: object) -> str:
    """A number is below its bound."""
    return f"value must have a minimum value of {least}"


def too_large(most: object) -> str:
    """A number is above its bound."""
    return f"value must have a maximum value of {most}"


def not_an_option(value: str, options: Iterable[str]) -> str:
    """A value is not in its enumeration."""
    return f"value '{value}' does not have a value in the enumeration '{', '.join(options)}'"


def bad_format(problem: str) -> str:
    """A value breaks its format."""
    return f"invalid format - {problem}"


def needed_by(profile: str, name: str) -> str:
    """A property has to be given because another one is."""
    if profile == "8.4":
        return f"missing property - '{name}' requires this property"
    return f"missing property required by '{name}'"


def add(errors: dict[str, str], path: str, problem: str) -> None:
    """Note a problem; a second one at the same place is joined by a backslash and an n."""
    errors[path] = f"{errors[path]}\\n{problem}" if path in errors else problem
