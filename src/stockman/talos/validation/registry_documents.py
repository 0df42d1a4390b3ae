"""Rules of documents about registries, images and the container runtime."""

from __future__ import annotations

from stockman.talos.patches.scalars import parse_url
from stockman.talos.validation.formats import (
    CERTIFICATE,
    is_certificate,
    label_key_error,
    pem_blocks,
    private_key_error,
)
from stockman.talos.validation.link_documents import check_name
from stockman.talos.validation.report import ConfigValue, ValidationReport
from stockman.talos.validation.runtime_spec import check_runtime_spec

_TRADITIONAL_KEYS = ("RSA PRIVATE KEY", "EC PRIVATE KEY")
_LEGACY = "customization"


def check_mirror(report: ValidationReport, document: ConfigValue) -> None:
    check_name(report, document)
    for endpoint in document["endpoints"].items:
        target = endpoint["url"]
        if not target.present:
            report.missing(target, "a mirror has a URL")
        elif parse_url(target.text).scheme not in ("http", "https"):
            report.error(
                "machine.url",
                target,
                f"{target.name} is no mirror",
                why="its scheme is neither http nor https",
                fix="write a URL such as https://mirror.example.com",
            )


def check_auth(report: ValidationReport, document: ConfigValue) -> None:
    check_name(report, document)
    used = [key for key in ("username", "identityToken", "auth") if document[key].text]
    if len(used) > 1:
        report.error(
            "machine.registry-auth",
            document[used[-1]],
            f"{document.label} says in two ways who it is",
            why=f"{' and '.join(used)} exclude each other",
            fix="keep one of them",
        )


def check_tls(report: ValidationReport, document: ConfigValue) -> None:
    check_name(report, document)
    authority, identity = document["ca"], document["clientIdentity"]
    found = [one for one in pem_blocks(authority.text) if one.label == CERTIFICATE]
    if authority.text and not any(is_certificate(one) for one in found):
        report_pem(report, authority, "no block of it is a certificate")
    if not identity.present:
        return
    if report.minor >= 14:
        check_certificate_pair(report, identity, loaded=False)
        return
    _check_certificate(report, identity["cert"])
    wrong = private_key_error(identity["key"].text)
    if not wrong and pem_blocks(identity["key"].text)[0].label in _TRADITIONAL_KEYS:
        wrong = "it is not in PKCS#8 form"
    if wrong:
        report_pem(report, identity["key"], wrong)


def check_certificate_pair(
    report: ValidationReport, identity: ConfigValue, *, loaded: bool = True
) -> None:
    """A certificate and its key; `loaded`: they have to be right, and not only PEM."""
    for key, label in (("cert", CERTIFICATE), ("key", "")):
        part = identity[key]
        if not part.text:
            report.missing(part, "a certificate and its key belong together")
            continue
        if check_pem(report, part, label) and loaded:
            if key == "cert":
                _check_certificate(report, part)
            elif wrong := private_key_error(part.text):
                report_pem(report, part, wrong)


def check_pem(report: ValidationReport, part: ConfigValue, label: str) -> bool:
    """Whether a text is PEM, of blocks with a label if one is given."""
    found = pem_blocks(part.text)
    if not found:
        report_pem(report, part, "it has no PEM block")
    elif label and any(one.label != label for one in found):
        report_pem(report, part, f"not every block of it is a {label}")
    else:
        return True
    return False


def _check_certificate(report: ValidationReport, part: ConfigValue) -> None:
    found = pem_blocks(part.text)
    if not found or not is_certificate(found[0]):
        report_pem(report, part, "its first block is no certificate")


def check_private_key(report: ValidationReport, part: ConfigValue) -> None:
    wrong = private_key_error(part.text)
    if wrong:
        report_pem(report, part, wrong)


def report_pem(report: ValidationReport, part: ConfigValue, why: str) -> None:
    report.error(
        "machine.certificate",
        part,
        f"{part.name} is not what Talos can read",
        why=why,
        fix="write the PEM text, from -----BEGIN to -----END, as it is",
    )


def check_customization(report: ValidationReport, document: ConfigValue) -> None:
    name = document["name"]
    wrong = label_key_error(name.text) if name.text else "it is missing"
    if not wrong and name.text == _LEGACY:
        wrong = "Talos keeps that name for itself"
    if wrong:
        report.error(
            "machine.name",
            name,
            f"{name.text!r} is no name of a customization",
            why=wrong,
            fix="rename it",
        )


def check_runtime_document(report: ValidationReport, document: ConfigValue) -> None:
    check_runtime_spec(report, document["overrides"])


def check_image_rules(report: ValidationReport, document: ConfigValue) -> None:
    for rule in document["rules"].items:
        _check_image_rule(report, rule)


def _check_image_rule(report: ValidationReport, rule: ConfigValue) -> None:
    pattern = rule["image"]
    if not pattern.text:
        report.missing(pattern, "a rule says of which images it speaks")
    skip, deny = rule["skip"].flag, rule["deny"].flag
    keyless, public = rule["keyless"], rule["publicKey"]
    ways = [way for way in (keyless, public) if way.present]
    why = ""
    if skip and deny:
        why = "skip and deny exclude each other"
    elif (skip or deny) and ways:
        why = "an image that is skipped or denied is not verified"
    elif not skip and not deny and not ways:
        why = "it neither skips nor denies nor verifies"
    elif len(ways) > 1:
        why = "keyless and publicKey exclude each other"
    if why:
        report.error(
            "machine.image-rule",
            rule,
            f"{rule.name} does not say what to do",
            why=why,
            fix="write one of skip, deny, keyless and publicKey",
        )
    if keyless.present:
        if not keyless["issuer"].text:
            report.missing(keyless["issuer"], "signers without keys are known by their issuer")
        if not keyless["subject"].text and not keyless["subjectRegex"].text:
            report.missing(keyless["subject"], "signers without keys are known by their subject")
    if public.present and not public["certificate"].text:
        report.missing(public["certificate"], "signatures are checked with it")
    _warn_pattern(report, pattern)


def _warn_pattern(report: ValidationReport, pattern: ConfigValue) -> None:
    text = pattern.text
    doubts = []
    if "@" in text:
        doubts.append("a digest is not part of what is compared")
    _, slash, rest = text.partition("/")
    if slash and ":" in rest:
        doubts.append("a tag is not part of what is compared")
    if text and _matches_nothing(text, report.minor):
        doubts.append("images are compared with their registry: docker.io/library/nginx")
    for why in doubts:
        report.warn(
            "machine.doubtful",
            pattern,
            f"the pattern {text} may match no image",
            why=why,
            fix="write the registry and the repository, without tag and digest",
        )


def _matches_nothing(pattern: str, minor: int) -> bool:
    if minor < 14:
        return "/" not in pattern and pattern != "*"
    anchored, star, _ = pattern.partition("*")
    domain, slash, _ = anchored.partition("/")
    if not slash:
        return not star
    return not any(mark in domain for mark in ".:") and domain.lower() != "localhost"
