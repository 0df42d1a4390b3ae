"""Expressions: what Talos takes, and what is said of the others."""

from __future__ import annotations

import pytest

from stockman.talos.validation.cel.checker import expression_error
from stockman.talos.validation.cel.types import (
    DISK,
    LINK,
    MEMBER,
    OOM_RANKING,
    OOM_TRIGGER,
    VOLUME,
    Environment,
)

GOOD: list[tuple[Environment, str]] = [
    (DISK, "system_disk"),
    (DISK, 'disk.transport == "nvme" && disk.size > 100u * GB'),
    (DISK, '!disk.rotational || glob("/dev/nvme*", disk.dev_path)'),
    (DISK, '"/dev/disk/by-id/x" in disk.symlinks'),
    (DISK, 'disk.symlinks.exists(link, link.startsWith("/dev"))  // one of them'),
    (DISK, "has(disk.serial) ? disk.size >= 1u * TiB : false"),
    (DISK, r'disk.model.matches("^X\\d+$") && size(disk.serial) == 4'),
    (DISK, "[1, 2].map(x, x * 2)[0] == 2 && {'a': 1}.a == 1"),
    (DISK, "!!true"),
    (DISK, "disk.symlinks.all(x, x != '') && disk.size > 100"),
    (DISK, " || ".join(f'disk.serial == "S{number}"' for number in range(500))),
    (VOLUME, 'volume.partition_label == "data" && disk.size > 1u'),
    (MEMBER, 'volume_id == "r-data"'),
    (LINK, 'mac(link.permanent_addr) == "52:54:00:12:34:56"'),
    (OOM_TRIGGER, 'memory_full_avg10 > 12.0 && time_since_trigger > duration("500ms")'),
    (OOM_TRIGGER, "multiply_qos_vectors(qos_memory_full_total, {System: 8.0}) > 3000.0"),
    (OOM_TRIGGER, "qos_memory_current[?System].orValue(0.0) > 1.0"),
    (OOM_RANKING, "memory_max.hasValue() ? 0.0 : double(memory_current.orValue(0u))"),
]
WRONG: list[tuple[Environment, str, str]] = [
    (DISK, "", "at character 1: a value is missing before the end"),
    (DISK, "disk.size > 100", "at character 11: > is not defined for uint and int; unsigned"),
    (DISK, "disk.speed > 1u", "at character 6: DiskSpec has no speed; it has bus_path"),
    (DISK, "volume.size > 1u", "at character 1: volume is not defined; known are disk"),
    (DISK, "disk.size", "expected true or false, got uint"),
    (DISK, "dyn(true)", "expected true or false, got dyn"),
    (DISK, "mac(disk.serial) == ''", "at character 1: there is no function mac"),
    (DISK, 'disk.serial == "a', "at character 16: a quote is not closed"),
    (DISK, r'disk.serial == "\q"', r"at character 16: \q is not a valid escape"),
    (DISK, "(system_disk", "at character 13: ) is missing before the end"),
    (DISK, "system_disk true", "at character 13: an operator is missing before true"),
    (DISK, "disk.size > 99999999999999999999u", "at character 13: 99999999999999999999u is too"),
    (DISK, "disk.serial.size", "at character 13: a string has no fields"),
    (DISK, "disk.size.exists(x, true)", "at character 10: a uint has no items"),
    (DISK, "has(disk)", "at character 1: has() requires a field, as in has(disk.serial)"),
    (DISK, "disk[?0]", "at character 6: optional values are not supported here"),
    (DISK, "package == 1", "at character 1: package is a reserved word"),
    (DISK, "system_disk & true", "at character 13: unexpected '&'"),
    (DISK, "(" * 200, "at character 101: it is nested too deeply"),
    (OOM_RANKING, "1u", "expected a number with a fraction, got uint"),
]


@pytest.mark.parametrize(("environment", "text"), GOOD, ids=[text[:60] for _, text in GOOD])
def test_an_expression_that_talos_takes_is_taken(environment: Environment, text: str) -> None:
    assert expression_error(text, environment, 14) == ""


@pytest.mark.parametrize(
    ("environment", "text", "why"), WRONG, ids=[text[:40] for _, text, _ in WRONG]
)
def test_a_wrong_expression_is_told_where_and_why(
    environment: Environment, text: str, why: str
) -> None:
    assert expression_error(text, environment, 14).startswith(why)


def test_fields_that_came_later_are_unknown_before() -> None:
    text = 'disk.firmware_version == "1"'

    assert (expression_error(text, DISK, 14), bool(expression_error(text, DISK, 11))) == ("", True)


def test_what_is_too_long_to_look_into_is_not_judged() -> None:
    assert expression_error(" + ".join(["1"] * 500), DISK, 14) == ""


def test_messages_that_are_written_out_are_not_judged() -> None:
    assert expression_error("google.protobuf.Duration{seconds: 1} == 5", DISK, 14) == ""
