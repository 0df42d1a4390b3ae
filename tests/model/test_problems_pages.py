"""Pages of problems say what stockman says: their examples are made anew and compared.

An example is one of three things. Blocks that start with the name of a file in a comment are those
files, and the `text` block after them is what `validate` prints of this code. A `console` block is
run by the tests of the documentation. What neither can bring about is made by a call, see below and
`problems.py` beside the tests of the package.
"""

import asyncio
import ipaddress
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from stockman.adapters.registry import HttpRegistry
from stockman.app.rendering.validation import validate
from stockman.app.workspace.directory import read_directory
from stockman.cli.edge import internal_bug
from stockman.cli.problems import problem_lines
from stockman.config.load import CONFIG_FILES
from stockman.model.errors import StockmanError
from stockman.model.problem import Problem
from stockman.model.problems import problem_codes, problem_page
from tests.adapters.fake_registry import Answer, FakeRegistry
from tests.adapters.git_repo.problems import MADE_BY_CALL as REPOSITORIES
from tests.app import leak_problems, secret_troubles
from tests.app.adopting.problems import MADE_BY_CALL as ADOPTIONS
from tests.app.applying_problems import MADE_BY_CALL as APPLYING
from tests.app.drift.problems import MADE_BY_CALL as DRIFT
from tests.app.lab_problems import MADE_BY_CALL as LABS
from tests.app.machine_problems import MADE_BY_CALL as ASSEMBLIES
from tests.app.metrics_problems import MADE_BY_CALL as METRICS
from tests.app.private_problems import MADE_BY_CALL as PRIVATE
from tests.app.start_problems import MADE_BY_CALL as STARTS
from tests.app.status_problems import MADE_BY_CALL as STATUS
from tests.catalog import problems as catalog_problems
from tests.crypto import problems as crypto_problems
from tests.docs.pages import Block, blocks, problem_file, prose
from tests.engine.problems import MADE_BY_CALL as RUNS
from tests.kubernetes.problems import MADE_BY_CALL as KUBERNETES
from tests.planning.problems import MADE_BY_CALL as PLANS_OF_PROXMOX
from tests.proxmox import problems as proxmox_problems
from tests.rendering import problems as rendering_problems
from tests.rendering.faults import MADE_BY_CALL as RENDERING
from tests.rendering.templates import problems as template_problems
from tests.s3.problems import MADE_BY_CALL as OBJECTS
from tests.steps.kube_problems import MADE_BY_CALL as KUBERNETES_STAGE
from tests.steps.problems import MADE_BY_CALL as PLANS
from tests.steps.talos_problems import MADE_BY_CALL as TALOS_STEPS
from tests.talos import problems as talos_problems
from tests.talos.api.problems import MADE_BY_CALL as CALLS
from tests.talos.image_api.problems import MADE_BY_CALL as IMAGES
from tests.talos.migration.problems import MADE_BY_CALL as MIGRATIONS
from tests.talos.nocloud.problems import MADE_BY_CALL as NOCLOUD
from tests.talos.patches.refused import MADE_BY_CALL as PATCHES
from tests.talos.validation.problems import MADE_BY_CALL as MACHINES

SECTIONS = ["## Example", "## Why it matters", "## What to do"]
_HEADER = re.compile(r"(?P<severity>error|warning)\[(?P<code>[a-z0-9.-]+)\]: \S")
_ADDRESS = re.compile(r"(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?![\d.])")
_NOT_DIALLED = [
    ipaddress.ip_network(text) for text in ("127.0.0.0/8", "10.42.0.0/15", "0.0.0.0/32")
]
"""This machine, the networks that exist only inside of a cluster, and no address at all."""


def listed(*answers: Answer, address: str = "") -> Problem:
    """The problem that a list of tags ends with, asked from a registry that gives these answers."""
    registry = FakeRegistry()
    registry.next.extend(answers)

    async def read() -> None:
        async with registry.serving(), HttpRegistry() as adapter:
            await adapter.tags(address or registry.address("charts/one"))

    with pytest.raises(StockmanError) as caught:
        asyncio.run(read())
    return caught.value.problem


def unread(directory: Path) -> Problem:
    with pytest.raises(StockmanError) as caught:
        read_directory(directory)
    return caught.value.problem


MADE_BY_CALL: dict[str, Callable[[], Problem]] = {
    "internal.bug": lambda: internal_bug(KeyError()),
    "registry.address": lambda: listed(address="127.0.0.1:5000/charts/one"),
    "registry.answer": lambda: listed(Answer(200, b"<html>")),
    "registry.denied": lambda: listed(Answer(403)),
    "registry.not-found": lambda: listed(Answer(404)),
    "registry.unreachable": lambda: listed(Answer(429)),
    "workspace.no-directory": lambda: unread(Path("meadow")),
    **crypto_problems.MADE_BY_CALL,
    **OBJECTS,
    **REPOSITORIES,
    **LABS,
    **ADOPTIONS,
    **talos_problems.MADE_BY_CALL,
    **CALLS,
    **leak_problems.MADE_BY_CALL,
    **secret_troubles.MADE_BY_CALL,
    **catalog_problems.MADE_BY_CALL,
    **proxmox_problems.MADE_BY_CALL,
    **rendering_problems.MADE_BY_CALL,
    **RENDERING,
    **template_problems.MADE_BY_CALL,
    **PATCHES,
    **ASSEMBLIES,
    **MACHINES,
    **MIGRATIONS,
    **NOCLOUD,
    **IMAGES,
    **KUBERNETES,
    **KUBERNETES_STAGE,
    **METRICS,
    **PRIVATE,
    **STARTS,
    **APPLYING,
    **PLANS,
    **RUNS,
    **DRIFT,
    **PLANS_OF_PROXMOX,
    **TALOS_STEPS,
    **STATUS,
}
_PORT = re.compile(r"127\.0\.0\.1:\d+")
_NEWEST = re.compile(r"(?<=that stockman knows is )\S+ \(\d{4}-\d\d-\d\d\)")
_TABLE = re.compile(r"(?<=is not in the table of )\d{4}-\d\d-\d\d")
"""Both move on with every refresh of the tables, and need not be true on the page."""


@cache
def blocks_of(code: str) -> tuple[Block, ...]:
    """The blocks of a page."""
    return tuple(blocks(problem_file(code)))


def texts(code: str, *languages: str) -> list[str]:
    """The blocks of a page in these languages."""
    found = blocks_of(code)
    return ["\n".join(block.lines) for block in found if block.language in languages]


def files_of(code: str) -> dict[str, str]:
    """Files that a page shows, by name."""
    found = {
        text.partition("\n")[0].removeprefix("# "): f"{text}\n"
        for text in texts(code, "yaml", "toml", "text")
    }
    return {name: text for name, text in found.items() if name in CONFIG_FILES}


def message_of(code: str) -> str:
    """What a page says that stockman prints."""
    told = [text for text in texts(code, "text", "console") if _HEADER.search(text)]
    assert len(told) == 1, code
    return told[0]


WITH_FILES = [code for code in problem_codes() if files_of(code)]
WITH_COMMANDS = [code for code in problem_codes() if texts(code, "console")]


def test_a_page_is_found_by_its_code() -> None:
    assert (problem_page("address.taken") or "").startswith("# address.taken\n\nError: ")


@pytest.mark.parametrize("name", ["address.tekan", "", "../problem", "__init__"])
def test_other_names_have_no_page(name: str) -> None:
    assert problem_page(name) is None


def test_codes_are_sorted_and_each_has_a_page() -> None:
    assert list(problem_codes()) == sorted(problem_codes())
    assert all(problem_page(code) for code in problem_codes())


def test_a_page_has_its_code_its_sentence_and_three_sections() -> None:
    pages = {code: prose(problem_file(code)).split("\n") for code in problem_codes()}

    assert {
        code: [line for line in lines if line.startswith("#")] for code, lines in pages.items()
    } == {code: [f"# {code}", *SECTIONS] for code in problem_codes()}
    assert [code for code, lines in pages.items() if lines[1]] == []
    assert [
        code for code, lines in pages.items() if not lines[2].startswith(("Error: ", "Warning: "))
    ] == []
    assert [code for code, lines in pages.items() if not 15 <= len(lines) <= 40] == []


def test_the_message_of_a_page_is_of_its_code_and_severity() -> None:
    found = {code: _HEADER.search(message_of(code)) for code in problem_codes()}

    assert {code: header and header["code"] for code, header in found.items()} == {
        code: code for code in problem_codes()
    }
    assert [
        code
        for code, header in found.items()
        if header is not None
        and not (problem_page(code) or "")
        .split("\n")[2]
        .lower()
        .startswith(f"{header['severity']}: ")
    ] == []


def test_a_page_names_no_address_that_somebody_could_have() -> None:
    named = [
        (code, ipaddress.ip_address(text))
        for code in problem_codes()
        for text in _ADDRESS.findall(problem_page(code) or "")
    ]

    strangers = [one for one in named if not any(one[1] in network for network in _NOT_DIALLED)]

    assert strangers == []


@pytest.mark.parametrize("code", WITH_FILES)
def test_files_of_a_page_make_validate_print_its_message(code: str, tmp_path: Path) -> None:
    for name, text in files_of(code).items():
        (tmp_path / name).write_text(text)

    found = validate(tmp_path)
    own = [problem for problem in found.problems if problem.code == code]

    printed = "\n".join(problem_lines(own, found.texts, redact=found.redact))
    assert _NEWEST.sub("", printed) == _NEWEST.sub("", message_of(code))


@pytest.mark.parametrize("code", MADE_BY_CALL)
def test_problems_that_no_file_brings_about_are_as_their_page_says(code: str) -> None:
    printed = "\n".join(problem_lines([MADE_BY_CALL[code]()]))

    printed = _PORT.sub("127.0.0.1:5000", printed)
    assert _TABLE.sub("", printed) == _TABLE.sub("", message_of(code))


def test_every_page_shows_its_problem_in_one_way() -> None:
    assert sorted([*WITH_FILES, *WITH_COMMANDS, *MADE_BY_CALL]) == list(problem_codes())
