"""Plans as files: what `plan --out FILE` writes and `apply FILE` reads."""

from __future__ import annotations

import json

from stockman.model.errors import Refused
from stockman.steps import plan_problems as problems
from stockman.steps.digest import json_digest
from stockman.steps.form import Unfit, read, written
from stockman.steps.kinds import UnknownKind
from stockman.steps.plan import Plan, planned

SCHEMA = "stockman.plan/1"


def plan_digest(plan: Plan) -> str:
    """Says whether two plans are the same."""
    return json_digest(written(plan))


def plan_text(plan: Plan) -> str:
    """A plan as JSON with its schema and digest; ends with a new line."""
    return digested_text(plan)[0]


def digested_text(plan: Plan) -> tuple[str, str]:
    """The same, and the digest alone."""
    spelled = written(plan)
    made = json_digest(spelled)
    content = {"schema": SCHEMA, "digest": made, "plan": spelled}
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n", made


def read_plan(text: str, place: str) -> Plan:
    """The plan that a text spells; `Refused` with what is wrong about it.

    `place` is the name of the file, for problems.
    """
    return read_digested(text, place)[0]


def read_digested(text: str, place: str) -> tuple[Plan, str]:
    """The same, and its digest, which was compared with what the text says."""
    try:
        content = json.loads(text)
    except ValueError as no:
        raise Refused(problems.unreadable(place, f"it is not JSON: {no}")) from None
    if not isinstance(content, dict) or "schema" not in content:
        raise Refused(problems.unreadable(place, "it has no key `schema`"))
    if content["schema"] != SCHEMA:
        raise Refused(problems.schema(place, content["schema"], SCHEMA))
    found = json_digest(content.get("plan"))
    if found != content.get("digest"):
        raise Refused(problems.damaged(place))
    try:
        return planned(read(Plan, content["plan"], "plan")), found
    except UnknownKind as no:
        raise Refused(problems.unknown_kind(place, no.kind)) from None
    except Unfit as no:
        raise Refused(problems.unreadable(place, str(no))) from None
