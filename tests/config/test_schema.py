import pytest

from stockman.config.classic import CLASSIC_KEYS, CLASSIC_ONLY
from stockman.config.language import CLUSTER_SECTIONS, MACHINE_SECTIONS
from stockman.config.load import CONFIG_FILES
from stockman.config.reference.schema import Schema, key_title, schema_for

CLUSTER = schema_for("cluster.yaml")
NODES = schema_for("nodes.yaml")
TOML = schema_for("cluster.toml")


def property_of(schema: Schema, definition: str, name: str) -> Schema:
    found: Schema = schema["$defs"][definition]["properties"][name]
    return found


@pytest.mark.parametrize("file", CONFIG_FILES)
def test_a_schema_says_what_it_is(file: str) -> None:
    schema = schema_for(file)

    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["$id"] == f"urn:stockman:schema:{file}"
    assert schema["title"]
    assert schema["description"]


def test_there_is_no_schema_of_another_file() -> None:
    with pytest.raises(LookupError):
        schema_for("kubeconfig")


def test_every_key_of_a_file_is_in_its_schema() -> None:
    assert set(CLUSTER["properties"]) == {*CLASSIC_KEYS, *CLASSIC_ONLY, *CLUSTER_SECTIONS, "sops"}
    assert set(NODES["properties"]) == {*MACHINE_SECTIONS, "sops"}
    assert set(TOML["properties"]) == {*CLUSTER_SECTIONS, *MACHINE_SECTIONS, "sops"}


@pytest.mark.parametrize("file", CONFIG_FILES)
def test_every_definition_takes_its_own_keys_only(file: str) -> None:
    schema = schema_for(file)
    blocks = [one for one in schema["$defs"].values() if "properties" in one]

    assert all(one["additionalProperties"] is False for one in (schema, *blocks))


@pytest.mark.parametrize("file", CONFIG_FILES)
def test_every_key_has_a_title_and_a_description(file: str) -> None:
    schema = schema_for(file)
    blocks = [schema, *(one for one in schema["$defs"].values() if "properties" in one)]
    keys = [key for block in blocks for key in block["properties"].items()]

    assert [name for name, key in keys if not key["title"] or not key["description"]] == []
    assert [name for name, key in keys if "None" in key["description"]] == []


@pytest.mark.parametrize("file", CONFIG_FILES)
def test_every_reference_leads_to_a_definition_and_every_definition_is_used(file: str) -> None:
    schema = schema_for(file)

    used = set(references(schema))
    assert used == set(schema["$defs"])


def references(part: object) -> list[str]:
    if isinstance(part, list):
        return [reference for item in part for reference in references(item)]
    if not isinstance(part, dict):
        return []
    own = [part["$ref"].removeprefix("#/$defs/")] if isinstance(part.get("$ref"), str) else []
    return own + [reference for item in part.values() for reference in references(item)]


def test_a_flat_key_has_the_words_of_the_key_it_stands_for() -> None:
    key = CLUSTER["properties"]["cluster_pod_cidr"]

    assert key["description"] == "Pod network. The same as `kubernetes.pod_cidr`."
    assert key["default"] == "10.42.0.0/16"
    assert key["title"] == "Cluster pod CIDR"


def test_a_description_tells_units_forms_and_what_absence_means() -> None:
    assert property_of(NODES, "Nic", "vlan_id")["description"] == (
        "VLAN tag on the bridge. Not set: untagged, the native VLAN of the bridge."
    )
    assert property_of(NODES, "VmSection", "disk_gb")["description"] == (
        "Size of the system disk. In GiB."
    )
    assert "Form: a MAC address." in property_of(NODES, "Nic", "mac_addr")["description"]
    assert "Secret: `${NAME}`" in property_of(CLUSTER, "Lock", "secret_key")["description"]


def test_limits_defaults_and_examples_are_given() -> None:
    cores = property_of(NODES, "VmSection", "cores")

    assert (cores["minimum"], cores["maximum"], cores["default"]) == (1, 512, 4)
    assert property_of(NODES, "Nic", "mac_addr")["examples"] == ["bc:24:11:00:00:11"]


def test_a_free_example_is_what_it_would_be_in_a_file() -> None:
    patches = property_of(CLUSTER, "TalosPatches", "all")

    assert patches["items"]["examples"] == [{"machine": {"sysctls": {"vm.nr_hugepages": "1024"}}}]


def test_a_node_needs_what_no_class_can_give() -> None:
    assert NODES["$defs"]["NodeSection"]["required"] == [
        "name",
        "address",
        "controller",
    ]


def test_a_class_needs_no_key_but_its_lists_are_whole() -> None:
    assert "required" not in NODES["$defs"]["ClassSection"]
    assert NODES["$defs"]["Nic"]["required"] == ["bridge"]


def test_null_is_no_value_of_toml() -> None:
    assert property_of(NODES, "Nic", "vlan_id")["type"] == ["integer", "string", "null"]
    assert property_of(TOML, "Nic", "vlan_id")["type"] == ["integer", "string"]


def test_an_item_of_a_list_is_never_null() -> None:
    assert NODES["properties"]["nodes"]["items"] == {
        "$ref": "#/$defs/NodeSection",
        "type": "object",
    }


def test_only_the_classic_dialect_names_repositories_shortly() -> None:
    short = property_of(CLUSTER, "RepositorySection", "url")
    long = property_of(TOML, "RepositorySection", "url")

    assert "owner/repo" in short["description"]
    assert "owner/repo," not in long["description"]


def test_names_that_users_choose_have_their_form() -> None:
    assert "propertyNames" in NODES["properties"]["hosts"]
    assert NODES["properties"]["hosts"]["additionalProperties"]["$ref"] == "#/$defs/Host"


def test_a_list_that_must_not_be_empty_says_so() -> None:
    assert property_of(NODES, "ZfsPool", "disks")["minItems"] == 1


@pytest.mark.parametrize(
    ("name", "title"),
    [("vm", "VM"), ("dns_servers", "DNS servers"), ("mac_addr", "MAC addr"), ("name", "Name")],
)
def test_a_key_as_a_title(name: str, title: str) -> None:
    assert key_title(name) == title
