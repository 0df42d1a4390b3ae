"""From configuration files to the desired state: readers, language, rules, resolution,
conversion."""
