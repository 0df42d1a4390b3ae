"""Whatever is written in one dialect means the same in the other, and after the way back."""

from __future__ import annotations

from hypothesis import given, settings

from stockman.config.convert.dialects import classic_to_toml, toml_to_classic
from stockman.config.convert.output import ConversionResult
from stockman.config.language import Configuration
from stockman.config.load import load
from tests.config.strategies import (
    Contents,
    classic_files,
    commented_classic_files,
    commented_toml_files,
    toml_files,
)

ENOUGH = settings(max_examples=settings().max_examples // 8)
"""A generated estate is large, and each is read six times; `make soak` tries many more."""


def bytes_of(converted: ConversionResult) -> Contents:
    assert not converted.problems, [str(problem) for problem in converted.problems]
    return {name: text.encode() for name, text in converted.files.items()}


def meaning(contents: Contents) -> Configuration:
    result = load(contents)
    assert not result.problems.errors, [str(problem) for problem in result.problems]
    return result.configuration


@ENOUGH
@given(classic_files())
def test_classic_files_mean_the_same_in_toml_and_back(contents: Contents) -> None:
    conversion_result = classic_to_toml(contents)
    back = toml_to_classic(bytes_of(conversion_result))

    assert (conversion_result.lost, back.lost) == ((), ())
    assert meaning(contents) == meaning(bytes_of(conversion_result)) == meaning(bytes_of(back))


@ENOUGH
@given(toml_files())
def test_a_toml_file_means_the_same_in_classic_and_back(contents: Contents) -> None:
    conversion_result = toml_to_classic(contents)
    back = classic_to_toml(bytes_of(conversion_result))

    assert (conversion_result.lost, back.lost) == ((), ())
    assert meaning(contents) == meaning(bytes_of(conversion_result)) == meaning(bytes_of(back))


@ENOUGH
@given(toml_files())
def test_a_second_round_trip_changes_no_byte(contents: Contents) -> None:
    once = classic_to_toml(bytes_of(toml_to_classic(contents)))
    twice = classic_to_toml(bytes_of(toml_to_classic(bytes_of(once))))

    assert twice.files == once.files


@ENOUGH
@given(commented_classic_files())
def test_comments_of_classic_files_survive(written: tuple[Contents, list[str]]) -> None:
    contents, remarks = written

    conversion_result = classic_to_toml(contents)
    back = toml_to_classic(bytes_of(conversion_result))

    assert _missing(remarks, conversion_result) == []
    assert _missing(remarks, back) == []
    assert meaning(contents) == meaning(bytes_of(conversion_result)) == meaning(bytes_of(back))


@ENOUGH
@given(commented_toml_files())
def test_comments_of_a_toml_file_survive(written: tuple[Contents, list[str]]) -> None:
    contents, remarks = written

    conversion_result = toml_to_classic(contents)
    back = classic_to_toml(bytes_of(conversion_result))

    assert _missing(remarks, conversion_result) == []
    assert _missing(remarks, back) == []
    assert meaning(contents) == meaning(bytes_of(conversion_result)) == meaning(bytes_of(back))


def _missing(remarks: list[str], converted: ConversionResult) -> list[str]:
    whole = "\n".join(converted.files.values())
    return [remark for remark in remarks if whole.count(remark) != 1]
