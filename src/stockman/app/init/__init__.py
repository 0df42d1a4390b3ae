"""Start a directory: configuration files, keys, tokens and `.gitignore`."""
