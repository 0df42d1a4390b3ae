"""One function per use case: reads files, calls the pure parts, wires the doors."""
