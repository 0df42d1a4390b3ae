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
            report.missing(target, "a mirror needs a URL")
        elif parse_url(target.text).scheme not in ("http", "https"):
            report.error(
                "machine.url",
                target,
                f"{target.name} is not a valid mirror",
                why="its scheme is neither http nor https",
                fix="use a URL such as https://mirror.example.com",
            )


def check_auth(report: ValidationReport, document: ConfigValue) -> None:
    check_name(report, document)
    used = [key for key in ("username", "identityToken", "auth") if document[key].text]
    if len(used) > 1:
        report.error(
            "machine.registry-auth",
            document[used[-1]],
            f"{document.label} has two kinds of credentials",
            why=f"{' and '.join(used)} exclude each other",
            fix="keep one of them",
        )


def check_tls(report: ValidationReport, document: ConfigValue) -> None:
    check_name(report, document)
    authority, identity = document["ca"], document["clientIdentity"]
    blocks = [block for block in pem_blocks(authority.text) if block.label == CERTIFICATE]
    if authority.text and not any(is_certificate(block) for block in blocks):
        report_pem(report, authority, "it contains no certificate")
    if not identity.present:
        return
    if report.minor >= 14:
        check_certificate_pair(report, identity, loaded=False)
        return
    _check_certificate(report, identity["cert"])
    wrong = private_key_error(identity["key"].text)
    if not wrong and pem_blocks(identity["key"].text)[0].label in _TRADITIONAL_KEYS:
        wrong = "it is not in PKCS#8 format"
    if wrong:
        report_pem(report, identity["key"], wrong)


def check_certificate_pair(
    report: ValidationReport, identity: ConfigValue, *, loaded: bool = True
) -> None:
    """Check a certificate and its key; `loaded`: beyond the PEM form."""
    for key, label in (("cert", CERTIFICATE), ("key", "")):
        field = identity[key]
        if not field.text:
            report.missing(field, "a certificate and its key belong together")
            continue
        if check_pem(report, field, label) and loaded:
            if key == "cert":
                _check_certificate(report, field)
            elif wrong := private_key_error(field.text):
                report_pem(report, field, wrong)


def check_pem(report: ValidationReport, field: ConfigValue, label: str) -> bool:
    """Whether a text consists of PEM blocks; if a label is given, all must have it."""
    blocks = pem_blocks(field.text)
    if not blocks:
        report_pem(report, field, "it has no PEM block")
    elif label and any(block.label != label for block in blocks):
        report_pem(report, field, f"not every block is a {label}")
    else:
        return True
    return False


def _check_certificate(report: ValidationReport, field: ConfigValue) -> None:
    blocks = pem_blocks(field.text)
    if not blocks or not is_certificate(blocks[0]):
        report_pem(report, field, "its first block is not a certificate")


def check_private_key(report: ValidationReport, field: ConfigValue) -> None:
    wrong = private_key_error(field.text)
    if wrong:
        report_pem(report, field, wrong)


def report_pem(report: ValidationReport, field: ConfigValue, why: str) -> None:
    report.error(
        "machine.certificate",
        field,
        f"{field.name} is not valid PEM",
        why=why,
        fix="use the complete PEM text, from -----BEGIN to -----END",
    )


def check_customization(report: ValidationReport, document: ConfigValue) -> None:
    name = document["name"]
    wrong = label_key_error(name.text) if name.text else "it is missing"
    if not wrong and name.text == _LEGACY:
        wrong = "the name is reserved by Talos"
    if wrong:
        report.error(
            "machine.name",
            name,
            f"{name.text!r} is not a valid name of a customization",
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
        report.missing(pattern, "a rule needs an image pattern")
    skip, deny = rule["skip"].flag, rule["deny"].flag
    keyless, public = rule["keyless"], rule["publicKey"]
    verifiers = [verifier for verifier in (keyless, public) if verifier.present]
    why = ""
    if skip and deny:
        why = "skip and deny exclude each other"
    elif (skip or deny) and verifiers:
        why = "an image that is skipped or denied is not verified"
    elif not skip and not deny and not verifiers:
        why = "it neither skips nor denies nor verifies"
    elif len(verifiers) > 1:
        why = "keyless and publicKey exclude each other"
    if why:
        report.error(
            "machine.image-rule",
            rule,
            f"{rule.name} has no valid action",
            why=why,
            fix="set one of skip, deny, keyless and publicKey",
        )
    if keyless.present:
        if not keyless["issuer"].text:
            report.missing(keyless["issuer"], "keyless signers are identified by their issuer")
        if not keyless["subject"].text and not keyless["subjectRegex"].text:
            report.missing(keyless["subject"], "keyless signers are identified by their subject")
    if public.present and not public["certificate"].text:
        report.missing(public["certificate"], "signatures are checked with it")
    _warn_pattern(report, pattern)


def _warn_pattern(report: ValidationReport, pattern: ConfigValue) -> None:
    text = pattern.text
    doubts = []
    if "@" in text:
        doubts.append("a digest is not field of what is compared")
    _, slash, repository = text.partition("/")
    if slash and ":" in repository:
        doubts.append("a tag is not field of what is compared")
    if text and _matches_nothing(text, report.minor):
        doubts.append("images are compared with their registry: docker.io/library/nginx")
    for why in doubts:
        report.warn(
            "machine.doubtful",
            pattern,
            f"the pattern {text} may match no image",
            why=why,
            fix="use registry and repository, without tag and digest",
        )


def _matches_nothing(pattern: str, minor: int) -> bool:
    if minor < 14:
        return "/" not in pattern and pattern != "*"
    anchored, star, _ = pattern.partition("*")
    domain, slash, _ = anchored.partition("/")
    if not slash:
        return not star
    return not any(mark in domain for mark in ".:") and domain.lower() != "localhost"
