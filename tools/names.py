"""Find a program by the name that the user gave."""

import re

from tools.errors import UnknownProgramError
from tools.recipe import Program


def find_program(name: str, programs: tuple[Program, ...]) -> Program:
    """Return the program `name`; a bare name with several versions is the newest."""
    for program in programs:
        if program.name == name:
            return program
    variants = [program for program in programs if program.executable == name]
    if variants and all(_is_version(program) for program in variants):
        return max(variants, key=_version_key)
    raise UnknownProgramError(_unknown(name, variants, programs))


def override_variable(name: str) -> str:
    """Return the environment variable that overrides a program."""
    return "STOCKMAN_TOOL_" + re.sub(r"[^A-Za-z0-9]", "_", name).upper()


def _is_version(program: Program) -> bool:
    return program.name == f"{program.executable}@{program.version}"


def _version_key(program: Program) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", program.version))


def _unknown(name: str, variants: list[Program], programs: tuple[Program, ...]) -> str:
    if variants:
        return f"{name} has several variants: {_names(variants)}"
    from difflib import get_close_matches

    near = get_close_matches(name, [program.name for program in programs], n=3)
    hint = f"did you mean {' or '.join(near)}?" if near else "`python -m tools list` shows all"
    return f"there is no recipe {name}; {hint}"


def _names(programs: list[Program]) -> str:
    return ", ".join(program.name for program in programs)
