"""The API of Talos machines, without a wire: who may call what, and who answers."""
