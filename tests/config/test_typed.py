"""Records from trees: the field decides the type, and reading goes on after a mistake."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network
from typing import Annotated, Literal

import pytest

from stockman.config.record_reader import ReadContext, read_record
from stockman.config.source.yaml_reader import read_yaml
from stockman.model.formats import NON_EMPTY, REQUIRED, Between, MacText
from stockman.model.origin import Traced
from stockman.model.problem import Problems
from stockman.model.record import record
from stockman.model.secret import Secret
from stockman.model.version import Version


@record
class Part(Traced):
    size: Annotated[int, Between(1, 10)]
    colour: Literal["red", "blue"] = "red"


@record
class Thing(Traced):
    name: Annotated[str | None, REQUIRED] = None
    text: str = ""
    flag: bool = False
    mac: MacText | None = None
    version: Version | None = None
    network: IPv4Network | None = None
    servers: tuple[IPv4Address, ...] = ()
    part: Part | None = None
    parts: tuple[Part, ...] = ()
    named: dict[str, Part] | None = None
    secret: Secret | None = None
    anything: object = None
    filled: Annotated[tuple[str, ...], NON_EMPTY] = ("x",)
    class_: str = ""


def read(text: str) -> tuple[Thing, ReadContext]:
    reading = ReadContext(Problems())
    sample = read_record(Thing, read_yaml("f", text), reading)
    assert sample is not None
    return sample, reading


def found(reading: ReadContext) -> list[tuple[str, str]]:
    return [(problem.code, str(problem.where)) for problem in reading.problems]


@pytest.mark.parametrize("written", ["1.10", "0123", "on", "52:54:00:12:34:56", "true", "1e3"])
def test_a_text_field_gets_the_source_text(written: str) -> None:
    sample, _ = read(f"{{name: a, text: {written}}}")

    assert sample.text == written


def test_the_field_decides_the_type() -> None:
    sample, reading = read(
        "{name: 12, flag: 'true', mac: 52:54:00:12:34:5A, version: v1.10, network: 127.0.0.0/8,"
        " servers: [127.0.0.1], part: {size: '3'}, anything: {a: [1, x]}, class: c}"
    )

    assert found(reading) == []
    assert sample.name == "12"
    assert sample.flag is True
    assert sample.mac == "52:54:00:12:34:5a"
    assert sample.version == Version(1, 10)
    assert sample.network == IPv4Network("127.0.0.0/8")
    assert sample.servers == (IPv4Address("127.0.0.1"),)
    assert sample.part == Part(size=3)
    assert sample.anything == {"a": [1, "x"]}
    assert sample.class_ == "c"


def test_null_means_not_given() -> None:
    sample, reading = read("{name: a, text: ~, part: null, servers: }")

    assert (sample.text, sample.part, sample.servers) == ("", None, ())
    assert found(reading) == []


def test_all_mistakes_are_reported_and_the_rest_is_read() -> None:
    sample, reading = read(
        "{flag: yes, part: {size: 11, colour: bleu}, servers: [127.0.0.1, nope], text: [1],"
        " nam: x, version: new, filled: [], named: {a: {size: 1}, b: 5}}"
    )

    assert found(reading) == [
        ("config.missing-key", "f:1:1"),
        ("config.value", "f:1:8"),
        ("config.range", "f:1:26"),
        ("config.choice", "f:1:38"),
        ("config.value", "f:1:66"),
        ("config.type", "f:1:79"),
        ("config.unknown-key", "f:1:84"),
        ("config.value", "f:1:101"),
        ("config.empty", "f:1:114"),
        ("config.type", "f:1:143"),
    ]
    assert sample.servers == (IPv4Address("127.0.0.1"),)
    assert sample.part is None
    assert sample.named == {"a": Part(size=1)}


def test_a_number_that_is_too_long_is_not_said_to_be_none() -> None:
    _, reading = read("name: a\npart: {size: 99999999999999999999}")

    (problem,) = reading.problems
    assert problem.why == "'99999999999999999999' is not a whole number of at most 19 digits"


def test_a_record_without_what_it_needs_is_left_out() -> None:
    sample, reading = read("{name: a, parts: [{size: 2}, {colour: red}, {size: 3}]}")

    assert [part.size for part in sample.parts] == [2, 3]
    assert found(reading) == [("config.missing-key", "f:1:30")]


def test_an_unknown_key_names_the_nearest() -> None:
    _, reading = read("{name: a, verson: 1.2}")

    assert next(iter(reading.problems)).fix == "write version"


def test_origins_know_fields_and_items() -> None:
    sample, _ = read("name: a\nservers:\n  - 127.0.0.1\n  - 127.0.0.2\npart: {size: 2}\n")

    assert str(sample.where("name")) == "f:1:7"
    assert str(sample.origins["servers[1]"].at) == "f:4:5"
    assert sample.part is not None
    assert sample.part.origins["size"].name == "part.size"
    assert "colour" not in sample.part.origins


def test_secrets_are_typed_and_literals_are_remembered() -> None:
    sample, reading = read("{name: a, secret: hunter2}")

    assert sample.secret == Secret("hunter2")
    assert [origin.name for origin in reading.plain_secrets] == ["secret"]


def test_references_are_not_literals() -> None:
    _, reading = read("{name: a, secret: '${TOKEN}'}")

    assert reading.plain_secrets == []


def test_encrypted_values_stay_opaque_whatever_the_field_is() -> None:
    cipher = "ENC[AES256_GCM,data:QQ==,iv:QQ==,tag:QQ==,type:int]"
    sample, reading = read(
        f"{{name: '{cipher}', flag: '{cipher}', part: '{cipher}', servers: '{cipher}'}}"
    )

    assert found(reading) == []
    assert [origin.name for origin in reading.encrypted] == ["name", "flag", "part", "servers"]
    assert sample.name is None


def test_long_values_are_cut_in_messages() -> None:
    _, reading = read("{name: a, version: " + "x" * 500 + "}")

    assert len(next(iter(reading.problems)).why) < 120
