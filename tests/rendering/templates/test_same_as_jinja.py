"""Whatever the fence lets through is what Jinja alone makes of it."""

from hypothesis import given
from hypothesis import strategies as st
from jinja2 import ChainableUndefined, Environment

from tests.rendering.templates.trees import NAMES, plain, rendering_of

JINJA = Environment(
    block_start_string="#%",
    block_end_string="%#",
    variable_start_string="#{",
    variable_end_string="}#",
    comment_start_string="#|",
    comment_end_string="#|",
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
    undefined=ChainableUndefined,
)
TEXTS = st.sampled_from(["'a'", "'Bc'", "''", "'<x> & y'", "domain", "nothing", "nodes[0].name"])
NUMBERS = st.sampled_from(["0", "1", "7", "2.5", "-3"])
LISTS = st.sampled_from(["[1, 'b', none]", "[]", "['x', 'y']", "nodes", "(1, 2)", "'ab'"])
TO_TEXT = st.sampled_from(
    ["upper", "trim", "e", "tojson", "string", "replace('a', 'b')", "indent(2)", "default('d')"]
)
OF_LIST = st.sampled_from(
    ["length", "first", "last", "join('-')", "list", "string", "reverse | list", "unique | list"]
)
OPERATORS = st.sampled_from(["~", "==", "!=", "or", "and", "in"])


def filtered(
    values: st.SearchStrategy[str], names: st.SearchStrategy[str]
) -> st.SearchStrategy[str]:
    return st.builds(lambda value, name: f"({value} | {name})", values, names)


EXPRESSIONS = st.recursive(
    st.one_of(TEXTS, NUMBERS, filtered(TEXTS, TO_TEXT), filtered(LISTS, OF_LIST)),
    lambda inner: st.one_of(
        st.builds(lambda a, o, b: f"({a} {o} ({b}) | string)", inner, OPERATORS, inner),
        st.builds(lambda a, b, c: f"({a} if {b} else {c})", inner, inner, inner),
        st.builds(lambda a, b: f"[{a}, {b}]", inner, inner),
        st.builds(lambda a: f"{{'k': {a}}}", inner),
        st.builds(lambda a: f"({a} | string)[1:3]", inner),
        st.builds(lambda a, b: f"'%s:%s' % ({a}, {b})", inner, inner),
        st.builds(lambda a: f"'<{{}}>'.format({a})", inner),
        filtered(inner, TO_TEXT),
    ),
    max_leaves=6,
)
PIECES = st.one_of(
    st.builds(lambda text: f"#{{ {text} }}#", EXPRESSIONS),
    st.builds(
        lambda a, b: f"#% if {a} %#\n{b}\n#% else %#no#% endif %#\n", EXPRESSIONS, st.text("ab \n")
    ),
    st.builds(
        lambda a: f"#% for x in [{a}, 1] %#\n  #{{ loop.index }}# #{{ x }}#\n#% endfor %#",
        EXPRESSIONS,
    ),
    st.builds(lambda a: f"#% set y = {a} %#\n#{{ y }}#", EXPRESSIONS),
    st.builds(lambda a: f"#% macro m(z) %##{{ z }}##% endmacro %##{{ m({a}) }}#", EXPRESSIONS),
    st.text("ab:- \n#{%|}", max_size=12),
)


def alone(text: str) -> str | None:
    """What Jinja alone makes of a template; None where it is an error."""
    try:
        names = plain(NAMES.values)
        return JINJA.from_string(text, globals=names if isinstance(names, dict) else {}).render()
    except Exception:  # noqa: BLE001  # whatever it is: then ours is a problem
        return None


@given(st.lists(PIECES, min_size=1, max_size=4).map("".join))
def test_templates_give_what_jinja_gives(text: str) -> None:
    rendering = rendering_of({"app.yaml.j2": text})
    expected = alone(text)

    if expected is None:
        assert [problem.code.partition(".")[0] for problem in rendering.problems] == ["template"]
    else:
        assert [str(problem) for problem in rendering.problems] == []
        content = rendering.files["app.yaml"].content
        assert content == (expected.encode() if expected.strip() else None)


@given(st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="#\r")))
def test_text_without_signs_stays_as_it_is(text: str) -> None:
    content = rendering_of({"app.yaml.j2": text}).files["app.yaml"].content

    assert content == (text.encode() if text.strip() else None)
