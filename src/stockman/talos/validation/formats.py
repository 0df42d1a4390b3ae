"""Formats of names, addresses, URLs, PEM texts and image references, as Talos accepts them."""

from __future__ import annotations

import base64
import binascii
import re
from ipaddress import IPv6Address, ip_address

from stockman.crypto.pem import NotPem, PemBlock, encode_pem
from stockman.model.pattern import pattern
from stockman.model.secret import Secret
from stockman.talos.patches.scalars import Url, parse_prefix, parse_url

_SUBDOMAIN = pattern(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_QUALIFIED = pattern(r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]")
_DNS_NAME = pattern(r"[a-zA-Z0-9_][a-zA-Z0-9_-]{0,62}(\.[a-zA-Z0-9_][a-zA-Z0-9_-]{0,62})*[._]?")
_LONGEST_SUBDOMAIN = 253
_LONGEST_NAME = 63
_LONGEST_DNS_NAME = 255
KEY_BYTES = 32


def is_subdomain(text: str) -> bool:
    """Whether a text is a lower-case DNS name such as `example.com`."""
    return len(text) <= _LONGEST_SUBDOMAIN and _SUBDOMAIN.fullmatch(text) is not None


def label_key_error(text: str) -> str:
    """Return what is wrong with a key such as `example.com/rack`. Empty: it is valid."""
    prefix, slash, name = text.rpartition("/")
    if slash and not is_subdomain(prefix):
        return f"{prefix!r} before the slash is not a valid domain name"
    if len(name.encode()) > _LONGEST_NAME:
        return f"a name has at most {_LONGEST_NAME} characters"
    if not _QUALIFIED.fullmatch(name):
        return "a name starts and ends with a letter or digit, and may contain -, _ and ."
    return ""


def label_value_error(text: str) -> str:
    """Return what is wrong with a label value. Empty: it is valid."""
    if len(text.encode()) > _LONGEST_NAME:
        return f"a value has at most {_LONGEST_NAME} characters"
    if text and not _QUALIFIED.fullmatch(text):
        return "a value starts and ends with a letter or digit, and may contain -, _ and ."
    return ""


def is_dns_name(text: str) -> bool:
    length = len(text.encode()) - text.count(".")
    return length <= _LONGEST_DNS_NAME and _DNS_NAME.fullmatch(text) is not None


def base64_key_error(text: str) -> str:
    """Return what is wrong with 32 bytes in base64, without showing them. Empty: valid."""
    try:
        raw = base64.b64decode(text.replace("\r", "").replace("\n", ""), validate=True)
    except (binascii.Error, ValueError):
        return "it is not base64"
    return "" if len(raw) == KEY_BYTES else f"it has {len(raw)} bytes instead of {KEY_BYTES}"


_PORT = pattern(r":[0-9]*")
_PREFIX_LENGTH = pattern(r"[0-9]{1,7}")
HIGHEST_PORT = 65535


def is_address(text: str) -> bool:
    """Whether a text is an address without a zone."""
    try:
        address = ip_address(text)
    except ValueError:
        return False
    return not (isinstance(address, IPv6Address) and address.scope_id is not None)


def is_zoned_address(text: str) -> bool:
    """Whether a text is an address, with or without a zone."""
    try:
        ip_address(text)
    except ValueError:
        return False
    return True


def is_network(text: str) -> bool:
    """Whether a text is an address, a slash and a prefix length."""
    try:
        parse_prefix(text)
    except ValueError:
        return False
    return True


def is_lenient_network(text: str) -> bool:
    """Whether a text is a network; leading zeros of the prefix length are accepted."""
    host, slash, length = text.partition("/")
    if not slash or not is_address(host) or not _PREFIX_LENGTH.fullmatch(length):
        return False
    return int(length) <= (32 if ip_address(host).version == 4 else 128)


def is_address_or_network(text: str) -> bool:
    return is_lenient_network(text) if "/" in text else is_address(text)


def is_subnet(text: str) -> bool:
    """Whether a text is a network or an address; a leading `!` excludes it."""
    bare = text.removeprefix("!")
    return is_network(bare) or is_zoned_address(bare)


def is_unspecified(text: str) -> bool:
    """Whether a valid address is 0.0.0.0 or ::."""
    return ip_address(text.partition("/")[0].partition("%")[0]).is_unspecified


def split_host_port(host: str) -> tuple[str, str]:
    """Split the host part of a URL into name and port."""
    port = ""
    name, colon, digits = host.rpartition(":")
    if colon and _PORT.fullmatch(colon + digits):
        host, port = name, digits
    if host.startswith("[") and host.endswith("]"):
        host = host[1:-1]
    return host, port


def endpoint_error(text: str) -> str:
    """Return what is wrong with the URL of an endpoint. Empty: it is valid."""
    try:
        url = parse_url(text)
    except ValueError as error:
        return str(error)
    host, port = split_host_port(url.host)
    if url.host.count(":") > 2 and "[" not in url.host:
        return "an IPv6 address must be in brackets"
    if not host:
        return "it has no host"
    if port and not 1 <= int(port) <= HIGHEST_PORT:
        return f"a port is a number from 1 to {HIGHEST_PORT}"
    return ""


def parse_request_url(text: str) -> Url | None:
    """Parse a URL with a scheme, or an absolute path. None: it is neither."""
    if not text.startswith("/") and not re.match(r"[a-zA-Z][a-zA-Z0-9+.-]*:", text):
        return None
    try:
        return parse_url(text.replace("#", "%23"))
    except ValueError:
        return None


def host_port_error(text: str) -> str:
    """Return what is wrong with a host and port such as `logs:514`. Empty: it is valid."""
    host, colon, _ = text.rpartition(":")
    if not colon:
        return "the port is missing"
    if text.startswith("["):
        inside, bracket, port = text[1:].partition("]")
        if not bracket:
            return "a bracket is missing"
        if not port.startswith(":") or ":" in port[1:]:
            return "the bracket must be followed by one port"
        return "too many brackets" if "[" in inside + port or "]" in port else ""
    if ":" in host:
        return "an IPv6 address must be in brackets before its port"
    return "a bracket is unmatched" if "[" in text or "]" in text else ""


def is_host_and_port(text: str) -> bool:
    """Whether a text is a host and port; a host with colons must be an address."""
    if host_port_error(text):
        return False
    host = text.rpartition(":")[0].removeprefix("[").removesuffix("]")
    return ":" not in host or is_zoned_address(host)


CERTIFICATE = "CERTIFICATE"
_BLOCK = pattern(
    r"^-----BEGIN (?P<label>[^\n]*?)-----[ \t]*\r?\n"
    r"(?P<body>.*?)^-----END (?P=label)-----",
    re.DOTALL | re.MULTILINE,
)


def pem_blocks(text: str) -> list[PemBlock]:
    """Return all PEM blocks of a text."""
    blocks = []
    for match in _BLOCK.finditer(text):
        try:
            der = base64.b64decode("".join(match["body"].split()), validate=True)
        except (binascii.Error, ValueError):
            continue
        blocks.append(PemBlock(match["label"], der))
    return blocks


def is_certificate(block: PemBlock) -> bool:
    """Whether a block contains a certificate, whatever its label."""
    from stockman.crypto.certificates import read_certificate

    try:
        read_certificate(encode_pem(CERTIFICATE, block.der))
    except (NotPem, ValueError):
        return False
    return True


def private_key_error(text: str) -> str:
    """Return what is wrong with a private key, without showing it. Empty: it is valid."""
    from stockman.crypto.private_keys import read_key

    try:
        read_key(Secret(text))
    except NotPem as error:
        return str(error)
    return ""


_TAG = pattern(r"[A-Za-z0-9_.-]{1,128}")
_REPOSITORY = pattern(r"[a-z0-9_./-]{2,255}")
_DIGEST = pattern(r"sha256:[0-9a-f]{64}")


def is_image_reference(text: str) -> bool:
    """Whether a text is an image reference, with or without tag and digest."""
    base, at, digest = text.partition("@")
    if at:
        return _DIGEST.fullmatch(digest) is not None and _is_repository(_split_tag(base)[0])
    repository, tag = _split_tag(text)
    return (not tag or _TAG.fullmatch(tag) is not None) and _is_repository(repository)


def _split_tag(text: str) -> tuple[str, str]:
    base, colon, tag = text.rpartition(":")
    return (base, tag) if colon and "/" not in tag else (text, "")


def _is_repository(text: str) -> bool:
    registry, slash, path = text.partition("/")
    if not slash or not (any(mark in registry for mark in ".:") or registry == "localhost"):
        registry, path = "", text
    if not _REPOSITORY.fullmatch(path):
        return False
    try:
        return parse_url(f"//{registry}").host == registry
    except ValueError:
        return False
