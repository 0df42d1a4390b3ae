"""Machine configurations: build, compare, check, migrate and write them."""
