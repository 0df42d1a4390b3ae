"""From text to desired state: readers, the language, rules, resolution, conversion."""
