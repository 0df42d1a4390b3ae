"""Rules of documents about the system itself, registries, images and containers."""

from __future__ import annotations

import posixpath

from stockman.model.pattern import pattern
from stockman.talos.patches.scalars import parse_nanoseconds, parse_size
from stockman.talos.validation.formats import (
    CERTIFICATE,
    host_port_error,
    is_certificate,
    is_image_reference,
    label_key_error,
    pem_blocks,
    private_key_error,
)
from stockman.talos.validation.report import ConfigValue, Rule, check_name, not_negative, required
from stockman.talos.validation.shared_rules import (
    Environment,
    UrlForm,
    check_expression,
    check_least_time,
    check_runtime_spec,
    check_url,
    matches,
    valid_url,
)

_VARIABLE = pattern(r"[A-Za-z_][A-Za-z0-9_]*")
_LEAST_WATCHDOG = parse_nanoseconds("10s")
_MANAGED = (
    *("resolv.conf", "hosts", "machine-id", "extensions.yaml", "localtime", "os-release"),
    "xattr.conf",
)
_MANAGED_DIRECTORIES = (
    *("apparmor.d", "apparmor", "ca-certificates", "cni", "cri", "iscsi", "kubernetes", "lvm"),
    *("nvme", "pki", "selinux", "ssl"),
)
_LOG_URL = UrlForm(
    "URL", ("tcp", "udp"), "tcp://logs.example.com:514", needs_port=True, has_path=False
)
_SIDEROLINK_URL = UrlForm("URL", ("https", "grpc"), "https://example.com", has_path=False)


def _check_environment(document: ConfigValue) -> None:
    for key, entry in document["variables"].entries.items():
        if not _VARIABLE.fullmatch(key):
            entry.error(
                "machine.environment",
                f"{key!r} is not a valid variable name",
                why="names have letters, digits and _, and do not start with a digit",
                fix="rename it",
            )


def _check_etc_file(document: ConfigValue) -> None:
    path = document["name"].text
    why = ""
    if not path or path.startswith((".", "/")) or posixpath.normpath(path).startswith(".."):
        why = "it must be a path below /etc"
    elif path in _MANAGED or path.partition("/")[0] in _MANAGED_DIRECTORIES:
        why = "Talos manages it"
    if why:
        document["name"].error(
            "machine.etc-file",
            f"{path!r} cannot be written by EtcFileConfig",
            why=why,
            fix="use another path, example.conf for example",
        )


def _check_event_sink(document: ConfigValue) -> None:
    endpoint = document["endpoint"]
    if wrong := host_port_error(endpoint.text):
        endpoint.error(
            "machine.url",
            f"{endpoint.name} is not a valid event destination",
            why=wrong,
            fix="use a host and a port, 10.42.0.5:3000 for example",
        )


def _check_oom(document: ConfigValue) -> None:
    expressions: tuple[tuple[str, Environment], ...] = (
        ("triggerExpression", "oom-trigger"),
        ("cgroupRankingExpression", "oom-ranking"),
    )
    for key, environment in expressions:
        if document[key].text:
            check_expression(document[key], environment)


def _check_parameters(document: ConfigValue) -> None:
    for key, entry in document["params"].entries.items():
        if not key:
            entry.error(
                "machine.environment",
                f"a parameter of {document.label} has no name",
                why="kernel parameters are identified by name",
                fix="add the name, or remove the line",
            )


def _check_installer(document: ConfigValue) -> None:
    image = document.down("installer.image")
    if not image.text:
        image.warn(
            "machine.incomplete",
            "UnattendedInstallConfig has no installer",
            why="only images of the image factory know their installer",
            fix="set installer.image: `schematic_id:` of the node defines it",
        )


def _check_watchdog(document: ConfigValue) -> None:
    check_least_time(document["timeout"], _LEAST_WATCHDOG)


def _check_extension_service(document: ConfigValue) -> None:
    files = document["configFiles"]
    if files.is_empty and document["environment"].is_empty:
        document.error(
            "machine.extension-service",
            f"{document.label} configures nothing",
            why="neither configFiles nor environment is set",
            fix="add one of them, or remove the document",
        )
    for file in files.items:
        for key in ("content", "mountPath"):
            file[key].require("a file needs content and a mount path")


_TRADITIONAL_KEYS = ("RSA PRIVATE KEY", "EC PRIVATE KEY")
_LEGACY = "customization"
_MIRROR_URL = UrlForm("mirror", ("http", "https"), "https://mirror.example.com")


def _check_mirror(document: ConfigValue) -> None:
    for endpoint in document["endpoints"].items:
        check_url(endpoint["url"], "a mirror needs a URL", _MIRROR_URL)


def _check_auth(document: ConfigValue) -> None:
    used = [key for key in ("username", "identityToken", "auth") if document[key].text]
    if len(used) > 1:
        document[used[-1]].error(
            "machine.registry-auth",
            f"{document.label} has two kinds of credentials",
            why=f"{' and '.join(used)} exclude each other",
            fix="keep one of them",
        )


def _check_tls(document: ConfigValue) -> None:
    authority, identity = document["ca"], document["clientIdentity"]
    blocks = [block for block in pem_blocks(authority.text) if block.label == CERTIFICATE]
    if authority.text and not any(is_certificate(block) for block in blocks):
        report_pem(authority, "it contains no certificate")
    if not identity.present:
        return
    if document.minor >= 14:
        check_certificate_pair(identity, loaded=False)
        return
    _check_certificate(identity["cert"])
    wrong = private_key_error(identity["key"].text)
    if not wrong and pem_blocks(identity["key"].text)[0].label in _TRADITIONAL_KEYS:
        wrong = "it is not in PKCS#8 format"
    if wrong:
        report_pem(identity["key"], wrong)


def check_certificate_pair(identity: ConfigValue, *, loaded: bool = True) -> None:
    """Check a certificate and its key; `loaded`: beyond the PEM form."""
    for key, label in (("cert", CERTIFICATE), ("key", "")):
        field = identity[key]
        if not field.require("a certificate and its key belong together"):
            continue
        if check_pem(field, label) and loaded:
            if key == "cert":
                _check_certificate(field)
            elif wrong := private_key_error(field.text):
                report_pem(field, wrong)


def check_pem(field: ConfigValue, label: str) -> bool:
    """Whether a text consists of PEM blocks; if a label is given, all must have it."""
    blocks = pem_blocks(field.text)
    if not blocks:
        report_pem(field, "it has no PEM block")
    elif label and any(block.label != label for block in blocks):
        report_pem(field, f"not every block is a {label}")
    else:
        return True
    return False


def _check_certificate(field: ConfigValue) -> None:
    blocks = pem_blocks(field.text)
    if not blocks or not is_certificate(blocks[0]):
        report_pem(field, "its first block is not a certificate")


def report_pem(field: ConfigValue, why: str) -> None:
    field.error(
        "machine.certificate",
        f"{field.name} is not valid PEM",
        why=why,
        fix="use the complete PEM text, from -----BEGIN to -----END",
    )


def _check_customization(document: ConfigValue) -> None:
    name = document["name"]
    wrong = label_key_error(name.text) if name.text else "it is missing"
    if name.text == _LEGACY:
        wrong = "the name is reserved by Talos"
    if wrong:
        what = f"{name.text!r} is not a valid name of a customization"
        name.error("machine.name", what, why=wrong, fix="rename it")


def _check_base_runtime(document: ConfigValue) -> None:
    check_runtime_spec(document["overrides"])


def _check_image_rules(document: ConfigValue) -> None:
    for rule in document["rules"].items:
        _check_image_rule(rule)


def _check_image_rule(rule: ConfigValue) -> None:
    rule["image"].require("a rule needs an image pattern")
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
        rule.error(
            "machine.image-rule",
            f"{rule.name} has no valid action",
            why=why,
            fix="set one of skip, deny, keyless and publicKey",
        )
    if keyless.present:
        keyless["issuer"].require("keyless signers are identified by their issuer")
        if not keyless["subjectRegex"].text:
            keyless["subject"].require("keyless signers are identified by their subject")
    if public.present:
        public["certificate"].require("signatures are checked with it")
    _check_image_pattern(rule["image"])


def _check_image_pattern(field: ConfigValue) -> None:
    doubts = []
    if "@" in field.text:
        doubts.append("a digest is not part of what is compared")
    if ":" in field.text.partition("/")[2]:
        doubts.append("a tag is not part of what is compared")
    if field.text and _matches_nothing(field.text, field.minor):
        doubts.append("images are compared with their registry: docker.io/library/nginx")
    for why in doubts:
        field.warn(
            "machine.doubtful",
            f"the pattern {field.text} may match no image",
            why=why,
            fix="use registry and repository, without tag and digest",
        )


def _matches_nothing(image_pattern: str, minor: int) -> bool:
    if minor < 14:
        return "/" not in image_pattern and image_pattern != "*"
    anchored, star, _ = image_pattern.partition("*")
    domain, slash, _ = anchored.partition("/")
    if not slash:
        return not star
    return not any(mark in domain for mark in ".:") and domain.lower() != "localhost"


_CONTAINER_NAME = pattern(r"[a-z0-9-]{1,63}")
_CAPABILITY = pattern(r"[A-Z_]+")
_MILLICORES = pattern(r"0*[1-9][0-9]*m")
_OPTIONS = ("ro", "rw", "noexec", "nosuid", "nodev", "noatime", "rbind", "rshared")
_NETWORKS = ("addresses", "connectivity", "hostname", "etcfiles")
_MOUNTS = ("userVolume", "tmpfs", "hostPath")


def _check_container(document: ConfigValue) -> None:
    name = document["name"]
    if not _CONTAINER_NAME.fullmatch(name.text):
        why = "it must have 1 to 63 lower-case letters, digits and -"
        what = f"{name.text!r} is not a valid container name"
        name.error("machine.name", what, why=why, fix="rename it")
    _check_image(document["image"])
    for variable in document["environment"].items:
        if "=" not in variable.text:
            why = "a variable is written as KEY=value"
            _report_container(variable, why, "add the = and the value")
    _check_mounts(document["mounts"])
    _check_security(document["security"])
    mode = document.down("network.mode")
    if mode.text not in ("", "none", "host"):
        _report_container(mode, "networks are none and host", "use one of these")
    _check_limits(document.down("resources.limits"))
    _check_depends(document)
    for key in ("uid", "gid"):
        number = document["runAs"][key]
        if number.number < 0:
            _report_container(number, "it is negative", "use the number of a user or group")


def _report_container(field: ConfigValue, why: str, fix: str) -> None:
    field.error("machine.container", f"{field.name} is invalid", why=why, fix=fix)


def _check_image(image: ConfigValue) -> None:
    if not image.require("a container runs an image"):
        return
    if not is_image_reference(image.text):
        _report_container(image, f"{image.text!r} is not a valid image reference", "correct it")
    elif "@" not in image.text:
        image.warn(
            "machine.doubtful",
            f"{image.text} may change",
            why="a tag can move, a digest cannot",
            fix="add the digest, @sha256: and 64 digits",
        )


def _check_mounts(mounts: ConfigValue) -> None:
    taken: set[str] = set()
    for mount in mounts.items:
        kinds = [kind for kind in _MOUNTS if mount[kind].present]
        if len(kinds) != 1:
            why = f"exactly one of {', '.join(_MOUNTS)} is required"
            _report_container(mount, why, "keep one")
            continue
        volume = mount[kinds[0]]
        target = volume["destination"]
        problems = _mount_errors(volume, kinds[0])
        if not problems and target.text in taken:
            why = f"{target.text} is mounted twice"
            _report_container(target, why, "choose another path")
        for field, why in problems:
            _report_container(field, why, "correct it")
        if not problems:
            taken.add(target.text)


def _mount_errors(mount: ConfigValue, kind: str) -> list[tuple[ConfigValue, str]]:
    problems = []
    if kind == "userVolume" and not mount["name"].text:
        problems.append((mount["name"], "the name of the volume is missing"))
    paths = ("source", "destination") if kind == "hostPath" else ("destination",)
    problems += [
        (mount[key], "a path starts with /") for key in paths if not mount[key].text.startswith("/")
    ]
    options = mount["options"]
    problems += [
        (option, f"options are {', '.join(_OPTIONS)}")
        for option in options.items
        if option.text not in _OPTIONS
    ]
    if {"ro", "rw"} <= set(options.texts):
        problems.append((options, "ro and rw exclude each other"))
    return problems


def _check_security(security: ConfigValue) -> None:
    profile = security["profile"]
    if profile.text not in ("", "restricted", "privileged"):
        why = "profiles are restricted and privileged"
        _report_container(profile, why, "use one of these")
    added, dropped = security.down("capabilities.add"), security.down("capabilities.drop")
    for capability in added.items:
        if capability.text == "ALL":
            _report_container(capability, "ALL cannot be added", "use `profile: privileged`")
        elif capability.text in dropped.texts:
            _report_container(capability, "it is added and dropped", "remove one of the two")
    for capability in added.items + dropped.items:
        text = capability.text
        if not _CAPABILITY.fullmatch(text) or text.startswith("CAP_"):
            _report_container(capability, "capabilities are written like NET_ADMIN", "correct it")


def _check_limits(limits: ConfigValue) -> None:
    memory, cpu = limits["memory"], limits["cpu"]
    if memory.text:
        try:
            parse_size(memory.text)
        except ValueError as error:
            _report_container(memory, str(error), "use a size such as 256MiB")
    if cpu.text and not _MILLICORES.fullmatch(cpu.text):
        _report_container(cpu, "it is given in thousandths of a core", "write it as 1500m")


def _check_depends(document: ConfigValue) -> None:
    depends = document["dependsOn"]
    for path in depends["paths"].items:
        if not path.text.startswith("/"):
            _report_container(path, "a path starts with /", "use an absolute path")
    for network in depends["networks"].items:
        if network.text not in _NETWORKS:
            _report_container(network, f"it is one of {', '.join(_NETWORKS)}", "use one of these")
    for container in depends["containers"].items:
        if not container.text:
            _report_container(container, "the name of the container is missing", "add it")
        elif container.text == document["name"].text:
            _report_dependency(container, "a container cannot wait for itself")


def check_dependencies(documents: list[ConfigValue]) -> None:
    """Check that containers depend only on existing containers, without cycles."""
    waits = {document["name"].text: document.down("dependsOn.containers") for document in documents}
    for name, containers in waits.items():
        for container in containers.items:
            if container.text and container.text not in waits:
                _report_dependency(container, f"container {container.text} does not exist")
            elif container.text != name and _reaches(waits, container.text, name):
                _report_dependency(container, f"{container.text} waits for {name} too")


def _reaches(waits: dict[str, ConfigValue], start: str, goal: str) -> bool:
    seen: set[str] = set()
    pending = [start]
    while pending:
        name = pending.pop()
        if name == goal:
            return True
        if name not in seen and name in waits:
            seen.add(name)
            pending += waits[name].texts
    return False


def _report_dependency(field: ConfigValue, why: str) -> None:
    field.error(
        "machine.dependency",
        f"{field.label} waits for {field.text} and would never start",
        why=why,
        fix="remove the dependency, or add the container",
    )


RULES: dict[str, tuple[Rule, ...]] = {
    "CRIBaseRuntimeSpecConfig": (_check_base_runtime,),
    "CRICustomizationConfig": (_check_customization,),
    "ContainerConfig": (_check_container,),
    "EnvironmentConfig": (_check_environment,),
    "EtcFileConfig": (_check_etc_file,),
    "EventSinkConfig": (_check_event_sink,),
    "ExtensionServiceConfig": (check_name, _check_extension_service),
    "ImageVerificationConfig": (_check_image_rules,),
    "KernelModuleConfig": (check_name,),
    "KmsgLogConfig": (
        check_name,
        valid_url("url", "the kernel log is sent to it", _LOG_URL),
    ),
    "OOMConfig": (_check_oom, not_negative("sampleInterval")),
    "RegistryAuthConfig": (check_name, _check_auth),
    "RegistryMirrorConfig": (check_name, _check_mirror),
    "RegistryTLSConfig": (check_name, _check_tls),
    "SideroLinkConfig": (valid_url("apiUrl", "the machine reports to it", _SIDEROLINK_URL),),
    "SysctlConfig": (_check_parameters,),
    "SysfsConfig": (_check_parameters,),
    "UnattendedInstallConfig": (
        _check_installer,
        matches(
            "provisioning.diskSelector.match",
            "disk",
            "Talos is installed on this disk",
            "set it: `disk:` of the node",
        ),
    ),
    "WatchdogTimerConfig": (
        required("device", "a watchdog is a device, /dev/watchdog0 for example"),
        _check_watchdog,
    ),
}
