"""Messages and services of the Talos API as they go over the wire, one set for each minor."""
