"""The Image Factory of a lab: schematics, versions, extensions, and images made of them."""
