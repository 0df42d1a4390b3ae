"""The HTTP interface of the Image Factory and of registries, without any wire."""
