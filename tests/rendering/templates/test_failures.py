"""Mistakes in templates are told with their file and line, and never with a secret."""

import pytest

from stockman.model.origin import Position
from stockman.rendering.templates.contract import CLASSIC, TOML
from tests.rendering.templates.trees import SECRET, problem_of, rendering_of

APP = "templates/config/app.yaml.j2"
PART = "templates/config/part.partial.yaml.j2"


@pytest.mark.parametrize(
    ("text", "code", "line", "column"),
    [
        ("a\nb\n  #{ 1 / 0 }#\n", "template.expression", 3, 3),
        ("#{ 'a' + 1 }#", "template.expression", 1, 1),
        ("#{ nodes[0]['name'].nope() }#", "template.undefined", 1, 1),
        ("\n#{ nope() }#", "template.undefined", 2, 1),
        ("a\n#% for %#\n", "template.syntax", 2, 1),
        ("a\n#{ x", "template.syntax", 2, 1),
        ("#| never closed |#\n#{ 1 }#\n", "template.syntax", 1, 1),
        ("#% do 1 %#", "template.syntax", 1, 1),
        ("\n\n#% break %#", "template.syntax", 3, 1),
        ("#% trans %#x#% endtrans %#", "template.syntax", 1, 1),
        ("\n#{ domain | b64encode }#", "template.unknown-filter", 2, 1),
        ("\n#{ 1 is positive }#", "template.unknown-filter", 2, 1),
        ("#{ ['a'] | map('nope') | list }#", "template.unknown-filter", 1, 1),
        ("\n#% include 'nope' %#", "template.include-missing", 2, 1),
        ("\n#% include ['nope', 'neither'] %#", "template.include-missing", 2, 1),
        ("#% include '../secret' %#", "template.outside-root", 1, 1),
        ("#% include '/etc/passwd' %#", "template.outside-root", 1, 1),
        (
            "#% import 'a/../../b' as b ignore missing %#".replace(" ignore missing", ""),
            "template.outside-root",
            1,
            1,
        ),
        ("\n#{ nodes | map(attribute='name') }#", "template.not-text", 2, 1),
        ("#{ nodes | map(attribute='name') | upper }#", "template.not-text", 1, 1),
        ("#% macro m() %##% endmacro %##{ m }#", "template.not-text", 1, 1),
        ("#{ range }#", "template.not-text", 1, 1),
        ("\n#{ [1, 2] | random }#", "template.random", 2, 1),
        ("#{ lipsum() }#", "template.random", 1, 1),
        ("#{ proxmox_token_secret }#", "template.secret-withheld", 1, 1),
        ("#{ proxmox_token_secret | default('x') }#", "template.secret-withheld", 1, 1),
        ("#{ {'a': proxmox_token_secret} | tojson }#", "template.secret-withheld", 1, 1),
        ("#{ proxmox_token_secret | length }#", "template.secret-withheld", 1, 1),
        ("#{ proxmox_token_secret == 'x' }#", "template.secret-withheld", 1, 1),
        ("#{ age_key('other') }#", "template.expression", 1, 1),
        ("#{ age_key('public', 'nope.key') }#", "template.key-file", 1, 1),
    ],
)
def test_a_mistake_is_told_at_its_line(text: str, code: str, line: int, column: int) -> None:
    problem = problem_of(text)

    assert (problem.code, problem.where) == (code, Position(APP, line, column))


def test_a_mistake_in_an_included_template_is_told_there() -> None:
    (problem,) = rendering_of(
        {
            "app.yaml.j2": "\n#% include 'part.partial.yaml.j2' %#",
            "part.partial.yaml.j2": "\n#{ 1 / 0 }#",
        }
    ).problems

    assert problem.where == Position(PART, 2, 1)


def test_a_mistake_of_form_in_an_included_template_is_told_there() -> None:
    (problem,) = rendering_of(
        {
            "app.yaml.j2": "#% include 'part.partial.yaml.j2' %#",
            "part.partial.yaml.j2": "\n#% if %#",
        }
    ).problems

    assert problem.where == Position(PART, 2, 1)


def test_all_templates_are_looked_at() -> None:
    files = {"a.j2": "#{ 1 / 0 }#", "b.j2": "#% if %#", "c.j2": "fine", "d.j2": "#{ nope() }#"}

    rendering = rendering_of(files)

    assert [problem.code for problem in rendering.problems] == [
        "template.expression",
        "template.syntax",
        "template.undefined",
    ]
    assert list(rendering.files) == ["c"]


@pytest.mark.parametrize(
    "text",
    ["#{ nope }#", "#{ nodes[0].nope }#", "#{ nope.a.b }#", "#% for x in nope %##% endfor %#"],
)
def test_a_missing_name_is_an_error_in_one_dialect_and_empty_in_the_other(text: str) -> None:
    assert problem_of(text, TOML).code == "template.undefined"
    assert rendering_of({"app.yaml.j2": text}, CLASSIC).files["app.yaml"].content is None


@pytest.mark.parametrize("name", ["nthhost(1)", "basename"])
def test_filters_of_the_classic_dialect_are_not_in_the_other(name: str) -> None:
    assert problem_of(f"#{{ 'a' | {name} }}#", TOML).code == "template.unknown-filter"


@pytest.mark.parametrize("name", ["github_push_token", "talos_patches"])
def test_functions_of_the_classic_dialect_are_not_in_the_other(name: str) -> None:
    assert problem_of(f"#{{ {name}() }}#", TOML).code == "template.undefined"


def test_a_withheld_secret_can_be_asked_for() -> None:
    text = "#% if proxmox_token_secret is defined and proxmox_token_secret %#there#% endif %#"

    assert rendering_of({"app.yaml.j2": text}).files["app.yaml"].content == b"there"


@pytest.mark.parametrize(
    "text",
    [
        "#{ {}[cloudflare_token].x() }#",
        "#{ {}[cloudflare_token | upper].x() }#",
        "#{ nodes[cloudflare_token].x() }#",
        "#% include cloudflare_token %#",
        "#{ cloudflare_token.nope() }#",
        "#{ age_key(cloudflare_token) }#",
        "#{ 1 + cloudflare_token }#",
        "#{ '%d' % cloudflare_token }#",
    ],
)
def test_no_message_holds_a_secret(text: str) -> None:
    told = str(problem_of(text)).lower()

    assert SECRET not in told
    assert SECRET[:8] not in told


def test_a_file_that_is_a_directory_too_is_told() -> None:
    (problem,) = rendering_of({"a.j2": "x", "a/b/c.yaml": "y"}).problems

    assert (problem.code, problem.where) == ("template.path-taken", "templates/config/a/b/c.yaml")


def test_a_file_that_came_out_empty_takes_no_path() -> None:
    assert list(rendering_of({"a.j2": " ", "a/b.yaml": "y"}).problems) == []
