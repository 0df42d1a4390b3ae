"""What a request asks for: its path, and its parameters from query and body."""

from __future__ import annotations

import json
import re
from typing import NoReturn
from urllib.parse import unquote_to_bytes

from stockman_lab.http.messages import Request
from stockman_lab.http.refusals import content_type

Json = str | int | float | bool | None | list["Json"] | dict[str, "Json"]
Parameters = dict[str, Json]

_PAIRS = re.compile("[&;]")
_ABSOLUTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^/?#]*")
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_REQUESTS_WITH_BODY = ("POST", "PUT")


class BadBody(Exception):
    """A body that is not what its type says; the text is what the server answers."""


def path_of(target: str) -> str:
    """The decoded path of a target."""
    path = split_target(target)[0]
    if "%" not in path:
        return path
    return unquote_to_bytes(path).decode("utf-8", "replace")


def parameters(request: Request) -> Parameters:
    """All parameters; what the query says wins over the body. `BadBody` where that is broken.

    A file in a form comes with its fields, and with `filename`; there the form wins.
    """
    query = decoded_form(split_target(request.target)[1])
    if request.upload is not None:
        query.update(request.upload.fields)
        query["filename"] = request.upload.filename
        body = query
    elif request.method in _REQUESTS_WITH_BODY:
        body = _body(request)
        body.update(query)
    else:
        body = query
    # Browsers add it so that nothing is answered from a cache.
    body.pop("_dc", None)
    return body


def decoded_form(text: str) -> Parameters:
    """Names and values of an encoded form; a name that comes again makes a list.

    As the real server reads it: a name without an equals sign is there with None, and what
    follows a second one is dropped.
    """
    values: Parameters = {}
    text = text.rstrip("&;")
    for pair in _PAIRS.split(text) if text else ():
        name, equals, rest = pair.partition("=")
        name = _plain(name, "latin-1")
        if not equals:
            values[name] = None
            continue
        value = _plain(rest.partition("=")[0], "utf-8")
        old = values.get(name)
        if old is None:
            values[name] = value
        elif isinstance(old, list):
            old.append(value)
        else:
            values[name] = [old, value]
    return values


def decoded_json(body: bytes) -> Parameters:
    """The members of a JSON object; `BadBody` where it is none."""
    try:
        text = body.decode("utf-8")
        data = json.loads(text, parse_constant=_no_constant)
        if _SURROGATE.search(text):
            json.dumps(data, ensure_ascii=False).encode("utf-8")
    except RecursionError:
        raise BadBody(
            "json text or perl structure exceeds maximum nesting level (max_depth set too low?)"
        ) from None
    except json.JSONDecodeError as error:
        raise BadBody(_malformed_message(error.doc, error.pos)) from None
    except UnicodeDecodeError as error:
        raise BadBody(
            f"malformed UTF-8 character in JSON string, at character offset {error.start}"
        ) from None
    except UnicodeEncodeError:
        raise BadBody("missing low surrogate character in surrogate pair in JSON string") from None
    except ValueError:
        # Python does not read numbers of thousands of digits.
        raise BadBody(_malformed_message(body.decode("utf-8"), 0)) from None
    if data is None:
        return {}
    if not isinstance(data, dict):
        raise BadBody("Not a HASH reference")
    return data


def _body(request: Request) -> Parameters:
    kind = request.headers.get("content-type", "")
    if kind and content_type(kind)[0] == "application/json":
        return decoded_json(request.body)
    return decoded_form(request.body.decode("latin-1"))


def split_target(target: str) -> tuple[str, str]:
    """Path and query of a target, both still encoded; any target has them."""
    if not target.startswith("/"):
        target = _ABSOLUTE.sub("", target, count=1)
    path, _, query = target.partition("#")[0].partition("?")
    return path, query


def _plain(text: str, encoding: str) -> str:
    if "+" in text:
        text = text.replace("+", " ")
    if "%" in text:
        return unquote_to_bytes(text.encode("latin-1", "replace")).decode(encoding, "replace")
    return text if text.isascii() else text.encode("latin-1", "replace").decode(encoding, "replace")


def _malformed_message(text: str, position: int) -> str:
    rest = text[position : position + 20] or "(end of string)"
    return (
        "malformed JSON string, neither tag, array, object, number, string or atom,"
        f' at character offset {position} (before "{rest}")'
    )


def _no_constant(name: str) -> NoReturn:
    raise BadBody(_malformed_message(name, 0))
