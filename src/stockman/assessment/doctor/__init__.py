"""Read-only checks of everything that stockman depends on, each with a fix."""
