"""Files of SOPS in process: YAML, JSON and binary, for age recipients."""
