"""What the lab knows and tells of kinds is judged by a real kube-apiserver and by kubectl."""

from __future__ import annotations

import copy
import json
import subprocess
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from stockman_lab.kube.discovery.discovery import Discovery
from stockman_lab.kube.schema.decoding import decoding_error
from stockman_lab.kube.schema.defaulting import fill_defaults
from stockman_lab.kube.schema.pruning import prune
from stockman_lab.kube.schema.reading import Unreadable, read_json
from stockman_lab.kube.schema.rewriting import rewritten
from stockman_lab.kube.schema.tables import table
from stockman_lab.kube.schema.types import Types
from stockman_lab.kube.schema.unknown import complaints, strict_decoding_error
from stockman_lab.kube.schema.validating import violations

from scripts import write_kubernetes_tables as writer
from tests.real.kubernetes.broken import BODIES, DEPLOYMENTS, broken_objects, strange_body
from tests.real.kubernetes.differences import differences
from tests.real.kubernetes.face import served
from tests.real.kubernetes.objects import SAMPLES, Object
from tests.real.kubernetes.widgets import DEFINITION, PATH, SPECS, STRANGE, widget
from tests.real.rendered.api_server import ApiServer, api_server
from tests.real.waiting import wait_until
from tools.provide import Provider
from tools.pytest_plugin import RealTool

TYPES = Types.of_server().with_crd(DEFINITION)
WIDGET = TYPES.type_of("example.org", "v1", "Widget")
DEPLOYMENT = TYPES.type_of("apps", "v1", "Deployment")
DISCOVERY = Discovery(TYPES, "v1.36.3", "127.0.0.1:6443")
AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
FILLED_IN_BY_ADMISSION = (
    *(".metadata.", ".spec.finalizers", ".spec.taints", ".spec.clusterIP", ".spec.ipFamil"),
    *(".spec.ports[0].nodePort", ".spec.ports[1].nodePort", ".status.lastPhaseTransitionTime"),
    *(".spec.priority", ".spec.preemptionPolicy", ".spec.tolerations"),
    *(".status.phase: real 'Pending', ours has none", ".status.qosClass"),
    *(".spec.selector: real has", ".spec.template.metadata.labels", ".status.conditions"),
)
"""Those that another part of the lab is to fill in, or that no two servers have the same."""
JOB_LABELS = ".spec.selector: real {'matchLabels': {'batch.kubernetes.io/controller-uid'"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, real_tool: RealTool) -> Iterator[ApiServer]:
    """A real server that has the custom kind."""
    with api_server(tmp_path_factory.mktemp("server"), real_tool) as api_servers:
        definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
        answer = api_servers.sent("POST", definitions, json.dumps(DEFINITION).encode())
        assert answer.status == 201, answer.body
        wait_until(
            lambda: (
                api_servers.sent("GET", PATH).status == 200 and "widgets" in _published(api_servers)
            )
        )
        yield api_servers


def _published(server: ApiServer) -> str:
    return server.sent("GET", "/openapi/v3/apis/example.org/v1").body.decode()


def asked(server: ApiServer, path: str, content: object, **query: str) -> Any:
    """What a server makes of an object that is not kept."""
    words = "&".join(["dryRun=All", *(f"{name}={value}" for name, value in query.items())])
    body = content if isinstance(content, bytes) else json.dumps(content).encode()
    return server.sent("POST", f"{path}?{words}", body)


def test_the_tables_say_what_the_server_says(server: ApiServer) -> None:
    structs = writer.Structs(f"v0.{Provider().named('kube-apiserver').version.partition('.')[2]}")
    packages = writer.types(server, structs)

    assert {package: table(package) for package in packages} == packages
    groups = [
        resource for resource in writer.resources(server) if resource["group"] != "example.org"
    ]
    assert json.loads((writer.PLACE / "resources.json").read_text("utf-8")) == groups
    columns = json.loads((writer.COLUMNS / "columns.json").read_text("utf-8"))
    assert writer.columns(server, groups) == columns


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda one: one.label)
def test_objects_are_completed_and_written_as_the_server_does_it(
    server: ApiServer, sample: Any
) -> None:
    answer = asked(server, sample.path, sample.content)
    assert answer.status == 201, answer.body

    found = [
        difference
        for difference in differences(answer.content, completed(sample.content))
        if not difference.startswith(FILLED_IN_BY_ADMISSION)
        and not difference.startswith(JOB_LABELS)
    ]

    assert found == []


def completed(content: Object) -> Object:
    """An object as the lab takes it in."""
    group, _, version = content["apiVersion"].rpartition("/")
    made = TYPES.type_of(group, version, content["kind"])
    found: Any = rewritten(made, copy.deepcopy(content))
    fill_defaults(made, found)
    return rewritten(made, found)  # type: ignore[return-value] # an object stays one


def test_values_of_wrong_types_are_refused_in_the_words_of_the_server(server: ApiServer) -> None:
    found = []
    for content in broken_objects():
        message = asked(server, DEPLOYMENTS, content).content["message"]
        ours = decoding_error(DEPLOYMENT, read_json(json.dumps(content).encode()))
        if message != f'Deployment in version "v1" cannot be handled as a Deployment: {ours}':
            found.append((message, ours))

    assert found == []


@pytest.mark.parametrize("body", BODIES)
def test_bodies_that_are_not_json_are_refused_in_the_words_of_the_server(
    server: ApiServer, body: bytes
) -> None:
    message = asked(server, DEPLOYMENTS, body).content["message"]

    with pytest.raises(Unreadable) as refused:
        read_json(body)

    assert f"json parse error: {refused.value} (" in message


def test_unknown_and_double_fields_are_named_as_the_server_names_them(server: ApiServer) -> None:
    texts = complaints(DEPLOYMENT, read_json(strange_body()))

    strict = asked(server, DEPLOYMENTS, strange_body(), fieldValidation="Strict")
    warned = asked(server, DEPLOYMENTS, strange_body(), fieldValidation="Warn")

    assert strict.content["message"].endswith(f": {strict_decoding_error(texts)}")
    warnings = [json.loads(one.removeprefix("299 - ")) for one in warned.headers.get_all("Warning")]
    assert warnings == texts


def test_unknown_fields_of_custom_objects_are_named_as_the_server_names_them(
    server: ApiServer,
) -> None:
    body = json.dumps(STRANGE).replace('"size": 1', '"size":1,"size":2').encode()

    message = asked(server, PATH, body, fieldValidation="Strict").content["message"]

    assert message.endswith(f": {strict_decoding_error(complaints(WIDGET, read_json(body)))}")


@pytest.mark.parametrize("spec", SPECS, ids=str)
def test_custom_objects_are_judged_as_the_server_judges_them(
    server: ApiServer, spec: Object
) -> None:
    content: Any = widget(**copy.deepcopy(spec))
    answer = asked(server, PATH, content)

    prune(WIDGET, content)
    fill_defaults(WIDGET, content)
    found = violations(WIDGET, content)

    if answer.status == 201:
        assert found == []
        assert content["spec"] == answer.content["spec"]
    else:
        causes = answer.content["details"]["causes"]
        told = {(cause["field"], cause["reason"], cause["message"]) for cause in causes}
        assert {tuple(one) for one in found} == told


@pytest.mark.parametrize(
    "path",
    [
        *("/api", "/apis", "/apis/apps", "/apis/example.org", "/apis/nope", "/apis/nope/v1"),
        *("/apis/example.org/v1", "/apis/example.org/v1beta1", "/api/v1", "/apis/autoscaling/v2"),
        *("/livez", "/livez?verbose", "/readyz?verbose", "/healthz?verbose", "/livez/ping"),
        *("/livez/nope", "/livez?exclude=etcd&verbose", "/livez?exclude=x&exclude=y&verbose"),
    ],
)
@pytest.mark.parametrize("accept", ["application/json", AGGREGATED])
def test_discovery_and_health_answer_byte_for_byte(
    server: ApiServer, path: str, accept: str
) -> None:
    discovery = Discovery(TYPES, "v1.36.3", server.address)
    split = urlsplit(path)

    told = server.sent("GET", path, accept=accept)
    ours = discovery.reply(split.path, parse_qs(split.query, keep_blank_values=True), accept)

    assert ours is not None
    assert (ours.status, ours.body) == (told.status, told.body)
    for name in ("Content-Type", "Cache-Control", "Vary", "X-Content-Type-Options"):
        said = {"Content-Type": ours.content_type, **ours.headers}
        assert said.get(name) == told.headers.get(name)


KUBECTL = [
    ("api-resources", "-o", "wide", "--sort-by=kind"),
    ("api-versions",),
    ("explain", "deployments.spec", "--recursive"),
    ("explain", "pod", "--recursive"),
    ("explain", "crd", "--recursive"),
    ("explain", "widgets", "--recursive"),
    ("explain", "widgets.spec.map"),
    ("explain", "widgets.spec.nothing-like-it"),
    ("explain", "nothing"),
]


@pytest.mark.parametrize("command", KUBECTL, ids=" ".join)
def test_kubectl_sees_the_same_kinds(
    server: ApiServer, real_tool: RealTool, tmp_path: Path, command: tuple[str, ...]
) -> None:
    real = server.ask(*command, "--cache-dir", tmp_path / "real")
    with served(DISCOVERY, server) as address:
        ours = kubectl(real_tool, tmp_path, address, *command)

    assert ours.returncode == real.returncode, ours.stderr
    assert fields(ours.stdout) == fields(real.stdout)
    assert ours.stderr == real.stderr


def kubectl(
    real_tool: RealTool, place: Path, address: str, *command: str, text: str = ""
) -> subprocess.CompletedProcess[str]:
    """What kubectl says of the lab."""
    return subprocess.run(
        [real_tool("kubectl"), "--server", address, "--cache-dir", place / "ours", *command],
        input=text,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env={"HOME": str(place), "PATH": "/usr/bin:/bin"},
    )


def fields(text: str) -> str:
    """An answer without the description of its kind: the lab has none."""
    head, found, rest = text.partition("FIELDS:")
    return rest if found else head


BEFORE: Object = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "merged"},
    "spec": {
        "selector": {"matchLabels": {"a": "b"}},
        "template": {
            "metadata": {"labels": {"a": "b"}},
            "spec": {
                "containers": [
                    {"name": "one", "image": "x", "env": [{"name": "a", "value": "1"}]},
                    {"name": "two", "image": "y", "ports": [{"containerPort": 80}]},
                ],
                "tolerations": [{"key": "a", "operator": "Exists"}],
                "volumes": [{"name": "v", "emptyDir": {}}],
            },
        },
    },
}


def after() -> Object:
    """The same with containers changed, added and taken away."""
    deepcopy = copy.deepcopy(BEFORE)
    spec = deepcopy["spec"]["template"]["spec"]
    spec["containers"] = [
        {"name": "three", "image": "z"},
        {"name": "one", "image": "x", "env": [{"name": "b", "value": "2"}]},
    ]
    spec["tolerations"] = [{"key": "b", "operator": "Exists"}]
    spec["volumes"] = [{"name": "v", "configMap": {"name": "x"}}]
    return deepcopy


Run = Callable[..., "subprocess.CompletedProcess[str]"]


def story(server: ApiServer, run: Run, namespace: str) -> list[Any]:
    """What kubectl says and makes when it changes a deployment, without the namespace's name."""
    server.ask("create", "namespace", namespace)
    start = ("-n", namespace, "-f", "-")
    made = run("apply", *start, text=json.dumps(BEFORE))
    differing = run("diff", *start, text=json.dumps(after()))
    applied = run("apply", *start, "--validate=strict", text=json.dumps(after()))
    strange = json.dumps({**after(), "other": 1})
    refused = run("apply", *start, "--validate=strict", text=strange)
    path = f"/apis/apps/v1/namespaces/{namespace}/deployments/merged"
    return [
        *(one.stdout for one in (made, applied, refused)),
        refused.stderr.replace(namespace, "NAMESPACE"),
        [line for line in differing.stdout.splitlines() if line[:1] in "+-"][2:],
        server.sent("GET", path).content["spec"],
    ]


def test_kubectl_merges_by_the_documents_of_the_lab_as_by_real_ones(
    server: ApiServer, real_tool: RealTool, tmp_path: Path
) -> None:
    with served(DISCOVERY, server) as address:
        ours = story(server, partial(kubectl, real_tool, tmp_path, address), "our-place")

    real = story(server, server.ask, "real-place")

    assert ours == real
    assert 'unknown field "other"' in ours[3]
