"""Convert configuration files between dialects and from other tools."""
