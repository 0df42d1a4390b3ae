"""SOPS files without the sops program: YAML, JSON and binary, for age recipients."""
