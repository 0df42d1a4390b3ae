"""What is asked, topic by topic; all of a topic happens in a namespace of its own."""

from __future__ import annotations

from collections.abc import Iterator

from tests.real.kube_api.bodies import CORE, made
from tests.real.kube_api.talking import Step
from tests.real.kube_api.topics.applying import applying, applying_bytes
from tests.real.kube_api.topics.basics import basics
from tests.real.kube_api.topics.broken_bodies import broken_bodies
from tests.real.kube_api.topics.broken_definitions import broken_definitions
from tests.real.kube_api.topics.broken_questions import broken_questions
from tests.real.kube_api.topics.custom import custom
from tests.real.kube_api.topics.every_kind import every_kind
from tests.real.kube_api.topics.others import others
from tests.real.kube_api.topics.patching import patching
from tests.real.kube_api.topics.pods import pods
from tests.real.kube_api.topics.refusals import refusals
from tests.real.kube_api.topics.services import services
from tests.real.kube_api.topics.signing import signing
from tests.real.kube_api.topics.workloads import workloads


def begin() -> Iterator[Step]:
    yield Step("POST", "/api/v1/namespaces", made("Namespace", "v1", "NS"))
    yield Step("POST", f"{CORE}/serviceaccounts", made("ServiceAccount", "v1", "default"))


CONVERSATIONS = (
    basics,
    patching,
    applying,
    applying_bytes,
    workloads,
    pods,
    services,
    others,
    custom,
    every_kind,
    refusals,
    signing,
    broken_bodies,
    broken_questions,
    broken_definitions,
)
