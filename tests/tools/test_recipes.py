import re
from collections import Counter

import pytest

from tests.tools.machine import ROOT
from tools.errors import UnknownProgramError
from tools.names import find_program, override_variable
from tools.own_sources import CHECKS
from tools.recipe import GoCheck, GoModule, GoProgram, Write
from tools.recipes import PROGRAMS


def test_every_name_and_every_variable_is_used_once() -> None:
    names = Counter(program.name for program in PROGRAMS)
    variables = Counter(override_variable(program.name) for program in PROGRAMS)

    assert set(names.values()) == set(variables.values()) == {1}


def test_every_go_program_is_pinned_to_the_version_that_it_shows() -> None:
    for program in PROGRAMS:
        match program.recipe:
            case GoProgram(source=GoModule(version=version)):
                assert version == f"v{program.version}", program.name
            case GoProgram(source=GoCheck(requires=requires)):
                assert requires[0].endswith(f"@v{program.version}"), program.name
            case _:
                pass


def test_every_check_program_has_its_source_and_every_source_its_program() -> None:
    named = {
        program.recipe.source.file
        for program in PROGRAMS
        if isinstance(program.recipe, GoProgram) and isinstance(program.recipe.source, GoCheck)
    }

    inside = {
        edit.text
        for program in PROGRAMS
        if isinstance(program.recipe, GoProgram) and isinstance(program.recipe.source, GoModule)
        for edit in program.recipe.source.edits
        if isinstance(edit, Write)
    }
    assert named == {
        path.name for path in CHECKS.iterdir() if path.is_dir() or path.read_text() not in inside
    }


def test_a_bare_name_means_the_newest_version() -> None:
    assert find_program("talosctl", PROGRAMS).version == "1.14.1"
    assert find_program("talosctl@1.11.5", PROGRAMS).version == "1.11.5"


def test_the_newest_version_is_found_by_number() -> None:
    nine, ten = (
        next(program for program in PROGRAMS if program.name == name)
        for name in ("talosctl@1.14.1", "talosctl@1.11.5")
    )
    newer = type(nine)(name="talosctl@1.9.0", version="1.9.0", recipe=nine.recipe)

    assert find_program("talosctl", (newer, ten)).version == "1.11.5"


def test_a_bare_name_of_variants_lists_them() -> None:
    with pytest.raises(UnknownProgramError, match="has several variants: bpg-acceptance@access"):
        find_program("bpg-acceptance", PROGRAMS)


@pytest.mark.parametrize(
    ("name", "variable"),
    [
        ("cue", "STOCKMAN_TOOL_CUE"),
        ("kube-apiserver", "STOCKMAN_TOOL_KUBE_APISERVER"),
        ("talosctl@1.14.1", "STOCKMAN_TOOL_TALOSCTL_1_14_1"),
    ],
)
def test_the_variable_of_a_name_has_only_letters_digits_and_underscores(
    name: str, variable: str
) -> None:
    assert override_variable(name) == variable


def test_the_page_about_programs_has_each_with_its_version() -> None:
    page = (ROOT / "docs" / "reference" / "real-programs.md").read_text()
    rows = re.findall(r"^\| `([^`]+)` \| ([\d.]+) \|", page, re.MULTILINE)

    built = [(p.name, p.version) for p in PROGRAMS if isinstance(p.recipe, GoProgram)]
    names = [p.name for p in PROGRAMS if not isinstance(p.recipe, GoProgram)]

    assert sorted(rows) == sorted(built)
    assert [name for name in names if f"`{name}`" not in page] == []
