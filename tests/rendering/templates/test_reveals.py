"""A secret stays known as one, whatever a template makes of it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stockman.rendering.templates.contract import TOML
from stockman.rendering.templates.render import RenderedTemplate, find_exposed_secrets
from tests.rendering.templates.trees import SECRET, rendering_of

NAME = "cloudflare_token"
PRINTED = [
    "#{ T }#",
    "#{ T ~ 'x' }#",
    "#{ 'x' + T }#",
    "#{ T * 2 }#",
    "#{ '%s' % T }#",
    "#{ '%s %s' % (1, T) }#",
    "#{ '%s' | format(T) }#",
    "#{ '{}'.format(T) }#",
    "#{ '{a}'.format_map({'a': T}) }#",
    "#{ T.upper() }#",
    "#{ T.split('-')[0] }#",
    "#{ T.partition('-') }#",
    "#{ '-'.join([T]) }#",
    "#{ '-'.join([T] | map('lower')) }#",
    "#{ ','.join(T) }#",
    "#{ T[0] }#",
    "#{ T[1:4] }#",
    "#{ T[::-1] }#",
    "#{ T | first }#",
    "#{ T | list }#",
    "#{ T | reverse }#",
    "#{ T | upper | replace('A', 'B') | trim }#",
    "#{ T | e }#",
    "#{ (T | e)[2:] }#",
    "#{ (T | e) ~ '<' }#",
    "#{ T | tojson }#",
    "#{ {'a': [T]} }#",
    "#{ {'a': [T]} | tojson }#",
    "#{ {'a': T} | pprint }#",
    "#{ {'a': T} | dictsort }#",
    "#{ {'a': T}.values() | list }#",
    "#{ {'a': T} | items | list }#",
    "#{ {'a': T} | xmlattr }#",
    "#{ {T: 1} }#",
    "#{ [T] | groupby('x') | list }#",
    "#{ [T, 'z'] | sort | first }#",
    "#{ ['a', 'b'] | join(T) }#",
    "#{ ['a'] | map('replace', 'a', T) | join }#",
    "#{ [T] | map('upper') | join }#",
    "#{ no_such | default(T) }#",
    "#{ dict(a=T).a }#",
    "#{ namespace(a=T).a }#",
    "#{ T if true else 'x' }#",
    "#% for c in T %##{ c }##% endfor %#",
    "#% set x = T %##{ x }#",
    "#% set x %##{ T }##% endset %##{ x }#",
    "#% with x = [T] %##{ x[0] }##% endwith %#",
    "#% filter upper %##{ T }##% endfilter %#",
    "#% macro m(x) %##{ x }##% endmacro %##{ m(T) }#",
    "#% macro m() %##{ caller() }##% endmacro %##% call m() %##{ T }##% endcall %#",
    "#% set l = [] %##% set _ = l.append(T) %##{ l }#",
    "#% include 'shared.partial.yaml.j2' %#",
    "#% from 'macros.partial.yaml.j2' import give %##{ give() }#",
]
NOT_PRINTED = [
    "#% if T %#there#% endif %#",
    "#{ T | length }#",
    "#{ T is string }#",
    "#{ T == 'x' }#",
    "#{ 'yes' if T else 'no' }#",
    "#{ nodes | map(attribute='name') | list }#",
]
STEPS = st.sampled_from(
    ["upper", "lower", "trim", "title", "reverse", "e", "string", "tojson", "list | join"]
)


USES = [
    *PRINTED,
    "#% for c in T %#x#% endfor %#",
    "#% set a, b = T[:2] %#",
    "#{ T | length }#",
    "#{ T | count }#",
    "#{ T.find('a') }#",
    "#{ T.startswith('h') }#",
    "#{ T == 'x' }#",
    "#{ 'x' == T }#",
    "#{ T < 'x' }#",
    "#{ T == domain }#",
    "#{ T in 'abc' }#",
    "#{ 'a' in T }#",
    "#{ 'a' in [T] }#",
    "#{ [T] == ['a'] }#",
    "#{ T is eq 'a' }#",
    "#{ T is lower }#",
    "#{ 'a' is in T }#",
    "#{ ['a'] | select('eq', T) | list }#",
    "#{ [T] | select('eq', 'a') | list }#",
    "#{ [{'a': T}] | selectattr('a', '==', 'x') | list }#",
    "#{ [{'a': T}] | map(attribute='a') | map('length') | list }#",
    "#{ [{'a': T}] | map(attribute='a') | sort | length }#",
    "#{ ['a'].index(T) }#",
    "#{ ['a'].count(T) }#",
    "#{ {'a': 1}.get(T) }#",
    "#{ {'a': 1}[T] }#",
    "#{ {'a': 1} | attr(T) }#",
    "#{ {T: 1} | length }#",
    "#{ {'a': 1}.keys().isdisjoint([T]) }#",
    "#{ T | int }#",
    "#{ 'abc'[T | int] }#",
    "#% for g in ['a', T] %##{ loop.changed(g) }##% endfor %#",
    "#{ '%d' % (T | length) }#",
    "#{ T | wordcount }#",
]
"""Everything with which a template can write a secret piece by piece."""
EXISTS = [
    "#% if T %#there#% endif %#",
    "#% if not T %#there#% endif %#",
    "#% if T and domain %#there#% endif %#",
    "#{ 'yes' if T else 'no' }#",
    "#% if T != '' %#there#% endif %#",
    "#% if T == '' %#there#% endif %#",
    "#% if T is defined and T is not none %#there#% endif %#",
    "#% if T | default('') %#there#% endif %#",
    "#{ T is string }#",
    "#% macro m(x) %##{ 'yes' if x }##% endmacro %##{ m(T) }#",
    "#{ nodes | map(attribute='name') | sort | join }#",
]


def made(text: str) -> RenderedTemplate:
    files = {
        "app.sops.yaml.j2": text.replace("T", NAME),
        "shared.partial.yaml.j2": f"#{{ {NAME} }}#",
        "macros.partial.yaml.j2": f"#% macro give() %##{{ {NAME} }}##% endmacro %#",
    }
    rendering = rendering_of(files)
    assert list(rendering.problems) == []
    return rendering.files["app.sops.yaml"]


@pytest.mark.parametrize("text", USES)
def test_a_file_that_is_not_encrypted_cannot_use_a_secret(text: str) -> None:
    files = {
        "app.yaml.j2": text.replace("T", NAME),
        "shared.partial.yaml.j2": f"#{{ {NAME} }}#",
        "macros.partial.yaml.j2": f"#% macro give() %##{{ {NAME} }}##% endmacro %#",
    }
    rendering = rendering_of(files)

    problems = [*rendering.problems, *find_exposed_secrets(rendering)]
    assert {problem.code for problem in problems} <= {
        "template.secret-used",
        "template.secret-exposed",
    }
    assert problems
    assert SECRET not in "".join(map(str, problems))


@pytest.mark.parametrize("text", EXISTS)
def test_a_file_that_is_not_encrypted_can_test_whether_a_secret_is_set(text: str) -> None:
    rendering = rendering_of({"app.yaml.j2": text.replace("T", NAME)})

    assert [*rendering.problems, *find_exposed_secrets(rendering)] == []


@pytest.mark.parametrize("text", PRINTED)
def test_what_is_made_of_a_secret_reveals_it(text: str) -> None:
    assert {reveal.name for reveal in made(text).reveals} == {NAME}


@pytest.mark.parametrize("text", NOT_PRINTED)
def test_asking_about_a_secret_does_not_reveal_it(text: str) -> None:
    assert made(text).reveals == ()


@given(st.lists(STEPS, max_size=5))
def test_no_chain_of_filters_hides_a_secret(steps: list[str]) -> None:
    file = made("#{ T" + "".join(f" | {step}" for step in steps) + " }#")

    assert {reveal.name for reveal in file.reveals} == {NAME}


def test_a_secret_is_revealed_at_the_line_that_prints_it() -> None:
    file = made("kind: Secret\nstringData:\n  token: #{ T }#\n")

    assert [str(reveal.at) for reveal in file.reveals] == ["templates/config/app.sops.yaml.j2:3:1"]


def test_a_secret_of_an_included_template_is_revealed_there() -> None:
    file = made("#% include 'shared.partial.yaml.j2' %#")

    assert [reveal.at.file for reveal in file.reveals] == [
        "templates/config/shared.partial.yaml.j2"
    ]


def test_secrets_of_one_file_are_not_those_of_the_next() -> None:
    files = rendering_of({"a.j2": f"#{{ {NAME} }}#", "b.j2": "#{ domain }#"}).files

    assert [len(file.reveals) for file in files.values()] == [1, 0]


@pytest.mark.parametrize(
    ("call", "name"),
    [
        ("age_key('private')", "age_key('private')"),
        ("cloudflare_tunnel_secret()", "cloudflare_tunnel_secret()"),
        ("github_deploy_key()", "github_deploy_key()"),
        ("github_push_token()", "github_push_token()"),
    ],
)
def test_what_functions_give_is_secret(call: str, name: str) -> None:
    rendering = rendering_of({"app.yaml.j2": f"#{{ {call} }}#"})

    assert [reveal.name for reveal in rendering.files["app.yaml"].reveals] == [name]
    assert name in rendering.secrets


@pytest.mark.parametrize("call", ["deploy_key()", "webhook_token()"])
def test_what_functions_of_the_toml_dialect_give_is_secret(call: str) -> None:
    rendering = rendering_of({"app.yaml.j2": f"#{{ {call} }}#"}, TOML)

    assert [reveal.name for reveal in rendering.files["app.yaml"].reveals] == [call]


@pytest.mark.parametrize("call", ["age_key('public')", "cloudflare_tunnel_id()"])
def test_public_halves_are_not_secret(call: str) -> None:
    assert made(f"#{{ {call} }}#").reveals == ()


def test_the_representation_of_a_result_shows_no_content() -> None:
    assert SECRET not in repr(rendering_of({"app.yaml.j2": f"#{{ {NAME} }}#"}))
