"""Machine configurations: what Talos is told about one machine."""
