"""Reading tags from a registry over real sockets, and every way that can go wrong."""

import asyncio
from collections.abc import Callable

import pytest

from stockman.adapters.registry import HttpRegistry
from stockman.model.errors import Denied, NotFound, Rejected, StockmanError, Unreachable
from tests.adapters.fake_registry import Answer, FakeRegistry, Trouble

TAGS = ["0.1.0", "0.2.0", "0.3.0-rc.1", "latest", "0.3.0"]


def tags(registry: FakeRegistry, repository: str = "charts/one", seconds: float = 5) -> list[str]:
    """What the adapter reads from a registry that is up while it does."""

    async def read() -> tuple[str, ...]:
        async with registry.serving(), HttpRegistry(seconds=seconds) as adapter:
            return await adapter.tags(registry.address(repository))

    return list(asyncio.run(read()))


def problem(kind: type[StockmanError], act: Callable[[], object]) -> str:
    """The whole problem that an action ends with."""
    with pytest.raises(kind) as caught:
        act()
    assert type(caught.value) is kind
    problem = caught.value.problem
    assert all((problem.what, problem.why, problem.fix))
    return str(problem)


def test_tags_come_in_the_order_of_the_registry() -> None:
    assert tags(FakeRegistry(charts__one=TAGS)) == TAGS


def test_a_repository_without_tags_has_none() -> None:
    registry = FakeRegistry(charts__one=[])
    registry.next.append(Answer(200, b'{"name": "charts/one", "tags": null}'))

    assert tags(registry) == []


def test_every_page_is_read() -> None:
    registry = FakeRegistry(charts__one=TAGS)
    registry.page_size = 2

    assert tags(registry) == TAGS
    assert [one.query.get("last") for one in registry.asked] == [None, "0.2.0", "latest"]


def test_more_pages_than_twenty_are_refused_rather_than_cut_off() -> None:
    registry = FakeRegistry(charts__one=[f"0.{n}.0" for n in range(50)])
    registry.page_size = 2

    told = problem(Rejected, lambda: tags(registry))

    assert "error[registry.answer]" in told
    assert "more than 20 pages" in told
    assert len(registry.asked) == 20


def test_twenty_full_pages_are_read() -> None:
    registry = FakeRegistry(charts__one=[f"0.{n}.0" for n in range(40)])
    registry.page_size = 2

    assert len(tags(registry)) == 40


def test_a_next_page_on_another_host_is_refused() -> None:
    registry = FakeRegistry(charts__one=TAGS)
    link = '<http://127.0.0.2:9/v2/charts/one/tags/list?last=a>; rel="next"'
    registry.next.append(Answer(200, b'{"tags": []}', (("Link", link),)))

    assert "another host, 127.0.0.2" in problem(Rejected, lambda: tags(registry))
    assert len(registry.asked) == 1


def test_the_anonymous_token_is_taken_once_for_all_pages() -> None:
    registry = FakeRegistry(charts__one=TAGS)
    registry.token = "let-me-in"
    registry.page_size = 2

    assert tags(registry) == TAGS
    assert [(one.path, one.token) for one in registry.asked] == [
        ("/v2/charts/one/tags/list", ""),
        ("/token", ""),
        ("/v2/charts/one/tags/list", "let-me-in"),
        ("/v2/charts/one/tags/list", "let-me-in"),
        ("/v2/charts/one/tags/list", "let-me-in"),
    ]
    assert registry.asked[1].query == {"service": "fake", "scope": "repository:x:pull"}


def test_a_token_that_does_not_help_is_a_denial() -> None:
    registry = FakeRegistry(charts__one=TAGS)
    registry.token = "let-me-in"
    registry.token_answer = b'{"access_token": "abracadabra"}'

    told = problem(Denied, lambda: tags(registry))

    assert "error[registry.denied]" in told
    assert "401 Unauthorized" in told
    assert "abracadabra" not in told
    assert [one.token for one in registry.asked] == ["", "", "abracadabra"]


@pytest.mark.parametrize(
    ("header", "why"),
    [
        ("", "offers no anonymous token"),
        ('Basic realm="fake"', "offers no anonymous token"),
        ("Bearer", "offers no anonymous token"),
        ('Bearer realm="http://registry.example/token"', "is not HTTPS"),
        ('Bearer realm="file:///etc/passwd"', "is not HTTPS"),
        ('Bearer realm="http://[::"', "is invalid"),
    ],
)
def test_a_registry_without_a_safe_token_service_is_a_denial(header: str, why: str) -> None:
    registry = FakeRegistry(charts__one=TAGS)
    registry.next.append(Answer(401, b"", (("WWW-Authenticate", header),)))

    assert why in problem(Denied, lambda: tags(registry))
    assert len(registry.asked) == 1


@pytest.mark.parametrize(
    "body",
    [
        b"{}",
        b'{"token": 7}',
        b'{"token": ""}',
        b'{"token": "a\\r\\nX: b"}',
        b'{"token": "\\u00fc"}',
    ],
)
def test_an_answer_without_a_usable_token_is_a_denial(body: bytes) -> None:
    registry = FakeRegistry(charts__one=TAGS)
    registry.token = "let-me-in"
    registry.token_answer = body

    assert "returns no token" in problem(Denied, lambda: tags(registry))


def test_a_redirect_within_the_registry_is_followed() -> None:
    registry = FakeRegistry(charts__one=TAGS)
    registry.next.append(Answer(307, b"", (("Location", "/v2/charts/one/tags/list?n=3"),)))

    assert tags(registry) == TAGS


def test_a_redirect_to_another_host_loses_the_token() -> None:
    registry = FakeRegistry(charts__one=TAGS)
    registry.token = "let-me-in"
    mirror = FakeRegistry(charts__one=["9.9.8", "9.9.9"])
    mirror.page_size = 1

    async def read() -> tuple[str, ...]:
        async with registry.serving(), mirror.serving(), HttpRegistry() as adapter:
            registry.moved_to = f"http://{mirror.host}/v2/charts/one/tags/list?n=5"
            return await adapter.tags(registry.address("charts/one"))

    assert asyncio.run(read()) == ("9.9.8", "9.9.9")
    assert [one.token for one in registry.asked] == ["", "", "let-me-in"]
    assert [one.token for one in mirror.asked] == ["", ""]


@pytest.mark.parametrize(
    ("location", "why"),
    [
        ("http://registry.example/v2/", "it redirects to http://registry.example/v2/, not HTTPS"),
        ("gopher://registry.example/", "not HTTPS"),
    ],
)
def test_a_redirect_to_an_unsafe_address_is_refused(location: str, why: str) -> None:
    registry = FakeRegistry(charts__one=TAGS)
    registry.next.append(Answer(302, b"", (("Location", location),)))

    assert why in problem(Rejected, lambda: tags(registry))


def test_a_redirect_that_cannot_be_read_is_no_answer() -> None:
    registry = FakeRegistry(charts__one=TAGS)
    registry.next.extend([Answer(302, b"", (("Location", "http://[::"),))] * 2)

    assert "error[registry.unreachable]" in problem(Unreachable, lambda: tags(registry))


def test_redirects_in_a_circle_end() -> None:
    registry = FakeRegistry(charts__one=TAGS)
    for _ in range(10):
        registry.next.append(Answer(302, b"", (("Location", "/v2/charts/one/tags/list"),)))

    assert "too many redirects" in problem(Rejected, lambda: tags(registry))
    assert len(registry.asked) == 4


def test_a_repository_that_is_not_there_is_not_found() -> None:
    told = problem(NotFound, lambda: tags(FakeRegistry(charts__one=TAGS), "charts/two"))

    assert told.startswith("error[registry.not-found]: the repository oci://127.")
    assert "/v2/charts/two/tags/list\n" in told
    assert "404 Not Found" in told


@pytest.mark.parametrize("status", [429, 500, 502, 503, 599])
def test_a_busy_or_broken_registry_is_worth_a_second_try_later(status: int) -> None:
    registry = FakeRegistry(charts__one=TAGS)
    registry.next.append(Answer(status, b"<h1>sorry</h1>"))

    told = problem(Unreachable, lambda: tags(registry))

    assert "error[registry.unreachable]" in told
    assert f"it replies {status}" in told
    assert len(registry.asked) == 1


@pytest.mark.parametrize(("status", "kind"), [(403, Denied), (400, Rejected), (204, Rejected)])
def test_other_answers_say_their_status(status: int, kind: type[StockmanError]) -> None:
    registry = FakeRegistry(charts__one=TAGS)
    registry.next.append(Answer(status, b""))

    assert f"it replies {status}" in problem(kind, lambda: tags(registry))


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b"<html>log in here</html>", "is not JSON"),
        (b"\xff\xfe\x00", "is not JSON"),
        (b"[" * 100_000, "is not JSON"),
        (b"[]", "not a JSON object"),
        (b'{"tags": "0.1.0"}', "no list of tags"),
        (b'{"tags": [1]}', "no list of tags"),
    ],
)
def test_something_else_than_a_list_of_tags_is_refused(body: bytes, why: str) -> None:
    registry = FakeRegistry(charts__one=TAGS)
    registry.next.append(Answer(200, body))

    assert why in problem(Rejected, lambda: tags(registry))


def test_an_endless_answer_is_refused() -> None:
    registry = FakeRegistry(charts__one=TAGS)
    registry.next.append(Answer(200, b" " * (9 * 1024 * 1024)))

    assert "larger than 8 MiB" in problem(Rejected, lambda: tags(registry))


def test_a_connection_that_dies_is_tried_once_more() -> None:
    registry = FakeRegistry(charts__one=TAGS)
    registry.next.append(Trouble.CUT)

    assert tags(registry) == TAGS
    assert len(registry.asked) == 2


def test_an_answer_cut_in_the_middle_is_tried_once_more() -> None:
    registry = FakeRegistry(charts__one=TAGS)
    registry.next.append(Answer(200, b'{"tags": ["0.', length=5000))

    assert tags(registry) == TAGS
    assert len(registry.asked) == 2


def test_a_connection_that_dies_twice_is_unreachable() -> None:
    registry = FakeRegistry(charts__one=TAGS)
    registry.next.append(Trouble.CUT)
    registry.next.append(Answer(200, b"{", length=5000))

    assert "error[registry.unreachable]" in problem(Unreachable, lambda: tags(registry))
    assert len(registry.asked) == 2


def test_a_registry_that_never_answers_costs_its_time_and_no_more() -> None:
    registry = FakeRegistry(charts__one=TAGS)
    registry.next.append(Trouble.HANG)

    told = problem(Unreachable, lambda: tags(registry, seconds=0.2))

    assert "error[registry.unreachable]" in told
    assert len(registry.asked) == 1


def test_nobody_at_the_address_is_unreachable() -> None:
    async def read() -> None:
        registry = FakeRegistry()
        async with registry.serving():
            pass
        async with HttpRegistry(seconds=5) as adapter:
            await adapter.tags(registry.address("charts/one"))

    assert "error[registry.unreachable]" in problem(Unreachable, lambda: asyncio.run(read()))


@pytest.mark.parametrize(
    "address",
    [
        "ghcr.io/owner/chart",
        "https://charts.example/stable",
        "oci://",
        "oci://ghcr.io",
        "oci://ghcr.io/",
        "oci://ghcr.io/Owner/chart",
        "oci://ghcr.io/owner/../../secret",
        "oci://somebody@ghcr.io/owner/chart",
        "oci://ghcr.io:99999/owner/chart",
        "oci://ghcr.io/owner/chart?x=1",
        "oci://ghcr.io/owner/chart\n",
    ],
)
def test_what_is_not_the_address_of_a_repository_is_refused_before_anything_is_dialled(
    address: str,
) -> None:
    async def read() -> None:
        async with HttpRegistry() as adapter:
            await adapter.tags(address)

    assert "error[registry.address]" in problem(Rejected, lambda: asyncio.run(read()))


def test_who_logs_in_is_not_repeated() -> None:
    async def read() -> None:
        async with HttpRegistry() as adapter:
            await adapter.tags("oci://somebody@ghcr.io/owner/chart")

    told = problem(Rejected, lambda: asyncio.run(read()))

    assert "'oci://***@ghcr.io/owner/chart'" in told
    assert "somebody" not in told
