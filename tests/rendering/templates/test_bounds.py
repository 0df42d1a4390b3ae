"""No template runs for ever, fills the memory, or gets out of its fence."""

import pytest

from stockman.rendering.templates.contract import CLASSIC, TOML, Contract, Limits
from tests.rendering.templates.trees import output_of, problem_of, rendering_of

GROW = (
    "#% set ns = namespace(x={start}) %##% for i in range(60) %##% set ns.x = {step} %##% endfor %#"
)
TWICE = GROW.format(start="[1]", step="[ns.x, ns.x]")
PAIRS = GROW.format(start="(1,)", step="(ns.x, ns.x)")
OTHER = TWICE.replace("ns", "other")

ENDLESS = [
    "#% set l = [1] %##% for i in l %##% set _ = l.append(i) %##% endfor %#",
    "#% for a in range(90000) %##% for b in range(90000) %#x#% endfor %##% endfor %#",
    "#% for a in range(90000) %##% for b in range(90000) if b < 0 %#x#% endfor %##% endfor %#",
    "#% macro m() %##% for b in range(9000) %#x#% endfor %##% endmacro %##{ m() }#" * 30,
    "#{ [1] | slice(10 ** 10) | list }#",
    "#{ [1] | slice(10 ** 10) | join }#",
    "#{ ''.join([1] | slice(10 ** 10)) }#",
    "#{ ([[1]] * 90000) | sum(start=[]) | length }#",
    "#% set l = [] %##% set _ = l.append(l) %##{ l }#",
    "#% for a in range(90000) %##{ ('x' * 4000000)[1:] | length }##% endfor %#",
    f"#% set x %##% for a in range(90000) %#{'text ' * 2000}#% endfor %##% endset %#",
    *(
        f"{TWICE}{use}"
        for use in (
            "#{ ns.x }#",
            "#{ ns.x ~ 'a' }#",
            "#{ ns.x | string }#",
            "#{ ns.x | tojson }#",
            "#{ ns.x | pprint }#",
            "#{ [ns.x] | join }#",
            "#{ '%s' % ns.x }#",
            "#{ '%s' | format(ns.x) }#",
            "#{ '{}'.format(ns.x) }#",
            "#{ 'a'.join(ns.x) }#",
            "#{ [ns.x, ns.x] | sort | length }#",
            "#{ [ns.x, ns.x] | unique | list | length }#",
            "#{ ns.x in [ns.x, 1] }#",
            "#{ ns.x is eq 1 }#",
            "#{ [1].index(ns.x) }#",
        )
    ),
    f"{TWICE}{OTHER}#{{ ns.x == other.x }}#",
    f"{PAIRS}#{{ {{ns.x: 1}} }}#",
    f"{PAIRS}#{{ {{}}[ns.x] }}#",
    f"{PAIRS}#{{ {{}}.get(ns.x) }}#",
]
HUGE = [
    "#{ range(10 ** 12) | list }#",
    "#{ range(10 ** 30) | length }#",
    "#{ 'a' * 10 ** 10 }#",
    "#{ 10 ** 10 * 'a' }#",
    "#{ [1] * 10 ** 10 }#",
    "#{ 2 ** (10 ** 6) }#",
    f"{GROW.format(start='10', step='ns.x * ns.x')}#{{ ns.x > 1 }}#",
    f"{GROW.format(start=repr('ab'), step='ns.x ~ ns.x')}#{{ ns.x }}#",
    f"{GROW.format(start=repr('ab'), step='ns.x + ns.x')}#{{ ns.x }}#",
    f"{GROW.format(start='[1]', step='ns.x + ns.x')}#{{ ns.x }}#",
    "#% set l = [1] %##% for i in range(60) %##% set _ = l.extend(l) %##% endfor %#",
    "#{ 'x'.center(10 ** 10) }#",
    "#{ 'x'.zfill(10 ** 10) }#",
    "#{ 'x' | center(10 ** 10) }#",
    "#{ 'x' | indent(10 ** 10, true) }#",
    "#{ '%10000000000d' % 1 }#",
    "#{ '%*d' % (10 ** 10, 1) }#",
    "#{ '%10000000000d' | format(1) }#",
    "#{ '{:>10000000000}'.format(1) }#",
    "#{ '{:{w}}'.format(1, w=10 ** 10) }#",
    "#{ '{x:>10000000000}'.format_map({'x': 1}) }#",
    "#{ [1] | batch(10 ** 10, 'x') | list }#",
    "#{ 3.5 | round(10 ** 9) }#",
    "#{ 3 | round(-(10 ** 9)) }#",
    "#{ 'a'.replace('', 'b' * 4000000) }#",
    "#{ ('a' * 90000) | replace('a', 'b' * 90000) }#",
    "#{ ('x' * 90000).join([''] * 90000) }#",
    "#{ ([''] * 90000) | join('x' * 90000) }#",
    "#{ [1, [2, [3]]] | tojson(indent=10 ** 9) }#",
    "#{ '\t'.expandtabs(10 ** 10) }#",
    "#{ ('a' * 90).translate({97: 'b' * 1000000}) }#",
    "#{ (5).to_bytes(10 ** 10) }#",
    "#{ ('<!--' * 50000) | striptags }#",
    "#{ ('a ' * 30000) | wordwrap(1, wrapstring='x' * 1000) }#",
    "#{ 'x' * 4000000 }##{ 'x' * 4000000 }#",
]
ENDLESSLY_DEEP = {
    "app.yaml.j2": "#% include 'app.yaml.j2' %#",
    "#% extends 'app.yaml.j2' %#": "#% extends 'app.yaml.j2' %#",
    "#% import 'app.yaml.j2' as me %#": "#% import 'app.yaml.j2' as me %#",
    "m": "#% macro m() %##{ m() }##% endmacro %##{ m() }#",
    "x": "#% block x %##{ self.x() }##% endblock %#",
    "loop": "#% for i in [1] recursive %##{ loop([1]) }##% endfor %#",
}
UNSAFE = [
    "#{ ''.__class__ }#",
    "#{ ''['__class__'] }#",
    "#{ '' | attr('__class__') }#",
    "#{ ['a'] | map(attribute='__class__') | list }#",
    "#{ '{0.__class__}'.format(1) }#",
    "#{ self.__init__ }#",
    "#{ cycler.__init__.__globals__ }#",
    "#{ range.__globals__ }#",
    "#{ age_key.__closure__ }#",
    "#{ (nodes | map('upper')).gi_frame }#",
    "#{ nodes.append(1) }#",
    "#{ nodes[0].update(name='other') }#",
    "#{ env.pop('LANG') }#",
    "#% set l = [1, 2] %##{ l.sort(key='a'.center) }#",
]


@pytest.mark.parametrize("contract", [CLASSIC, TOML], ids=["classic", "toml"])
@pytest.mark.parametrize("text", ENDLESS)
def test_endless_work_ends(text: str, contract: Contract) -> None:
    limits = Limits(work_per_file=200_000)

    assert problem_of(text, contract, limits).code == "template.too-much-work"


@pytest.mark.parametrize("text", HUGE)
def test_what_would_be_huge_is_not_made(text: str) -> None:
    assert problem_of(text).code == "template.too-large"


@pytest.mark.parametrize("text", ENDLESSLY_DEEP.values(), ids=ENDLESSLY_DEEP)
def test_what_calls_itself_without_an_end_is_stopped(text: str) -> None:
    assert problem_of(text).code == "template.too-deep"


def test_templates_that_include_each_other_are_stopped() -> None:
    rendering = rendering_of(
        {"a.yaml.j2": "#% include 'b.yaml.j2' %#", "b.yaml.j2": "#% include 'a.yaml.j2' %#"}
    )

    assert {problem.code for problem in rendering.problems} == {"template.too-deep"}
    assert rendering.files == {}


@pytest.mark.parametrize("text", UNSAFE)
def test_there_is_no_way_out_of_the_fence(text: str) -> None:
    assert problem_of(text).code == "template.unsafe"


def test_a_secret_does_not_become_bytes() -> None:
    (problem,) = rendering_of({"a.sops.yaml.j2": "#{ cloudflare_token.encode() }#"}).problems

    assert problem.code == "template.unsafe"


@pytest.mark.parametrize(
    "text",
    [
        "(" * 3000 + "1" + ")" * 3000,
        "-" * 5000 + "1",
        "[" * 3000 + "]" * 3000,
        "1" + " + 1" * 10000,
    ],
)
def test_expressions_that_are_too_deep_to_read_are_refused(text: str) -> None:
    assert problem_of(f"#{{ {text} }}#").code == "template.syntax"


def test_all_templates_together_have_a_limit_too() -> None:
    loop = "#% for i in range(1000) %##{ i }##% endfor %#"
    limits = Limits(work_per_file=100_000, work=20_000)

    rendering = rendering_of({f"{n}.yaml.j2": loop for n in range(20)}, limits=limits)

    assert {problem.code for problem in rendering.problems} == {"template.too-much-work"}
    assert 0 < len(rendering.files) < 20


def test_a_template_that_is_stopped_leaves_the_others_their_share() -> None:
    files = {"a.yaml.j2": "#% include 'a.yaml.j2' %#", "b.yaml.j2": "fine: #{ domain }#"}

    assert list(rendering_of(files).files) == ["b.yaml"]


def test_the_steps_of_a_template_do_not_depend_on_the_machine() -> None:
    text = "#% for i in range(1000) %##{ i }##% endfor %#"

    assert problem_of(text, limits=Limits(work_per_file=2000)).code == "template.too-much-work"
    assert list(rendering_of({"a.j2": text}, limits=Limits(work_per_file=20_000)).problems) == []


def test_recursion_with_an_end_is_fine() -> None:
    text = "#% macro down(n) %##{ n }##{ down(n - 1) if n }##% endmacro %##{ down(40) }#"

    assert output_of(text) == "".join(str(n) for n in range(40, -1, -1))
