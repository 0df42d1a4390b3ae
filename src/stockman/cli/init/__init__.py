"""Init."""
