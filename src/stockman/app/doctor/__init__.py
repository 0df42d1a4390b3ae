"""Read-only checks of everything that stockman depends on, each with what would put it right."""
