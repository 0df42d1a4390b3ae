"""Questions, with and without somebody to answer them."""

from tests.cli.running import on_terminal, ran


def test_without_a_terminal_a_question_is_wrong_usage_and_names_its_option() -> None:
    seen = ran("ask")

    assert (seen.status, seen.out) == (64, "")
    assert seen.err.startswith("error[cli.question]: ")
    assert "the command has to ask: Go on?" in seen.err
    assert "`--yes`" in seen.err


def test_without_a_terminal_an_answer_without_default_names_its_option() -> None:
    seen = ran("ask", "--yes")

    assert seen.status == 64
    assert "`--name`" in seen.err


def test_without_a_terminal_the_default_is_taken() -> None:
    assert ran("ask", "--yes", "--name", "k8s") == (0, "k8s red\n", "")


def test_on_a_terminal_questions_are_asked() -> None:
    seen = on_terminal("ask", typed="y\nk8s\ngreen\n")

    assert seen.status == 0
    assert "Go on? [y/N] " in seen.out
    assert "Cluster name: " in seen.out
    assert "Colour (red|green) [red]: " in seen.out
    assert seen.out.endswith("k8s green\n")


def test_an_empty_answer_takes_the_default() -> None:
    assert on_terminal("ask", typed="yes\nk8s\n\n").out.endswith("k8s red\n")


def test_an_empty_answer_without_default_is_asked_again() -> None:
    seen = on_terminal("ask", typed="y\n\nk8s\n\n")

    assert "An answer is required." in seen.out
    assert seen.out.endswith("k8s red\n")


def test_an_answer_that_does_not_pass_is_asked_again() -> None:
    seen = on_terminal("ask", typed="y\nmy cluster\nk8s\n\n")

    assert "one word, please" in seen.out
    assert seen.out.endswith("k8s red\n")


def test_a_choice_that_does_not_exist_suggests_the_nearest() -> None:
    seen = on_terminal("ask", typed="y\nk8s\ngren\ngreen\n")

    assert "Did you mean green?" in seen.out
    assert seen.out.endswith("k8s green\n")


def test_an_unclear_yes_is_asked_again() -> None:
    assert "Please answer y or n." in on_terminal("ask", typed="maybe\nn\n").out


def test_no_is_the_default_of_yes_or_no() -> None:
    assert on_terminal("ask", typed="\n").status == 1


def test_ctrl_d_and_ctrl_c_interrupt() -> None:
    ctrl_d = on_terminal("ask", typed="y\n\x04")

    assert ctrl_d.status == 130
    assert ctrl_d.out.endswith("\ninterrupted\n")
