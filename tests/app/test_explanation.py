import pytest

from stockman.app.explanation import ProblemPage, explain, problem_codes, top_level
from stockman.config.reference.explain import Explanation
from stockman.config.reference.keys import keys_by_path
from stockman.model.errors import WrongUsage


def test_a_key_is_explained_in_either_spelling() -> None:
    flat = explain("cluster_pod_cidr")
    nested = explain("kubernetes.pod_cidr")

    assert isinstance(flat, Explanation)
    assert isinstance(nested, Explanation)
    assert flat.key.same_as == nested.key.path


def test_a_recursive_explanation_holds_all_keys_below() -> None:
    found = explain("nodes", recursive=True)

    assert isinstance(found, Explanation)
    assert "nodes.vm.nics.bridge" in {key.path for key in found.fields}


def test_every_problem_code_has_a_page_that_can_be_read() -> None:
    pages = [explain(code) for code in problem_codes()]

    assert pages
    assert all(isinstance(page, ProblemPage) and page.text for page in pages)


def test_no_problem_code_is_hidden_behind_a_key() -> None:
    assert set(problem_codes()) & set(keys_by_path()) == set()


def test_the_code_of_an_unknown_name_has_a_page_too() -> None:
    assert "explain.unknown" in problem_codes()
    assert "schema.unwritable" in problem_codes()


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("nods.vm", "stockman explain nodes.vm"),
        ("cluster_pod_cdir", "stockman explain cluster_pod_cidr"),
        ("nodes.vm.nicz", "stockman explain nodes.vm.nics"),
    ],
)
def test_an_unknown_name_is_answered_with_the_nearest(written: str, meant: str) -> None:
    with pytest.raises(WrongUsage) as caught:
        explain(written)

    assert caught.value.problem.code == "explain.unknown"
    assert meant in caught.value.problem.fix


def test_an_unknown_name_that_is_like_nothing_is_answered_with_where_to_look() -> None:
    with pytest.raises(WrongUsage) as caught:
        explain("nodes.vm.qqqqqqqqqqqqqqqqqqqqqqqqqqqqqq")

    assert "nodes.vm is the last part that is known" in caught.value.problem.why
    assert "`stockman explain nodes.vm` lists the keys" in caught.value.problem.fix


def test_the_top_level_lists_the_keys_of_both_files() -> None:
    cluster, nodes = top_level()

    assert {"cluster_pod_cidr", "repository_visibility", "talos"} <= {
        key.path for key in cluster.keys
    }
    assert [key.path for key in nodes.keys] == ["nodes", "classes", "guests", "hosts"]
