"""Anonymous tokens of registries: what a challenge asks for, and where it is to be had."""

from __future__ import annotations

import json
import re
from urllib.parse import urlencode

from stockman.model.errors import Denied, Refused
from stockman.model.problem import Problem
from stockman.talos.image_api.places import checked
from stockman.talos.image_api.wire import Answer, Question

_DETAIL = re.compile(r'([a-z]+)="([^"]*)"', re.IGNORECASE)
_TOKEN = re.compile(r"[A-Za-z0-9._~+/-]+=*")


def token_question(question: Question, refused: Answer) -> Question:
    """Where the token for a question is given out; `Denied` where none is for everybody."""
    scheme, _, details = refused.headers.get("www-authenticate", "").partition(" ")
    asked = {name.lower(): value for name, value in _DETAIL.findall(details)}
    realm = asked.get("realm", "")
    if scheme.lower() != "bearer" or not realm:
        raise Denied(_no_token(question, "it offers no anonymous token"))
    wanted = urlencode({name: asked[name] for name in ("service", "scope") if name in asked})
    separator = "&" if "?" in realm else "?"
    url = f"{realm}{separator}{wanted}" if wanted else realm
    try:
        return Question(url=checked(url))
    except Refused:
        raise Denied(_no_token(question, "its token is not given out over HTTPS")) from None


def token_in(question: Question, answer: Answer) -> str:
    """The token that was given; `Denied` where there is none."""
    try:
        said = json.loads(answer.body)
    except (ValueError, RecursionError):
        said = None
    found = (said.get("token") or said.get("access_token")) if isinstance(said, dict) else None
    if not isinstance(found, str) or not _TOKEN.fullmatch(found):
        raise Denied(_no_token(question, "its token service answers without a token"))
    return found


def _no_token(question: Question, why: str) -> Problem:
    return Problem(
        code="images.denied",
        what="the source of images does not show this to the public",
        where=question.shown,
        why=why,
        fix="take it from a public repository or a mirror of your own",
    )
