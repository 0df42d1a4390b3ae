"""Keys, certificates, age and SOPS files; randomness and time are passed in."""
