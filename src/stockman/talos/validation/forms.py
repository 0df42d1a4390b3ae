"""Forms of names that Kubernetes and Talos take."""

from __future__ import annotations

import base64
import binascii
import re

_SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_QUALIFIED = re.compile(r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]")
_DNS_NAME = re.compile(r"[a-zA-Z0-9_][a-zA-Z0-9_-]{0,62}(\.[a-zA-Z0-9_][a-zA-Z0-9_-]{0,62})*[._]?")
_LONGEST_SUBDOMAIN = 253
_LONGEST_NAME = 63
_LONGEST_DNS_NAME = 255
KEY_BYTES = 32


def is_subdomain(text: str) -> bool:
    """Whether it is a name such as `example.com`, in small letters."""
    return len(text) <= _LONGEST_SUBDOMAIN and _SUBDOMAIN.fullmatch(text) is not None


def why_no_label_key(text: str) -> str:
    """What is wrong with a key such as `example.com/rack`. Empty: nothing."""
    prefix, slash, name = text.rpartition("/")
    if slash and not is_subdomain(prefix):
        return f"{prefix!r} before the slash is no name of a domain"
    if len(name.encode()) > _LONGEST_NAME:
        return f"a name has at most {_LONGEST_NAME} characters"
    if not _QUALIFIED.fullmatch(name):
        return "a name starts and ends with a letter or digit; between them also stand -, _ and ."
    return ""


def why_no_label_value(text: str) -> str:
    """What is wrong with the value of a label. Empty: nothing."""
    if len(text.encode()) > _LONGEST_NAME:
        return f"a value has at most {_LONGEST_NAME} characters"
    if text and not _QUALIFIED.fullmatch(text):
        return "a value starts and ends with a letter or digit; between them also stand -, _ and ."
    return ""


def is_dns_name(text: str) -> bool:
    length = len(text.encode()) - text.count(".")
    return length <= _LONGEST_DNS_NAME and _DNS_NAME.fullmatch(text) is not None


def why_no_key(text: str) -> str:
    """What is wrong with 32 bytes in base64, without showing them. Empty: nothing."""
    try:
        raw = base64.b64decode(text.replace("\r", "").replace("\n", ""), validate=True)
    except (binascii.Error, ValueError):
        return "it is no base64"
    return "" if len(raw) == KEY_BYTES else f"it has {len(raw)} bytes, and {KEY_BYTES} are needed"
