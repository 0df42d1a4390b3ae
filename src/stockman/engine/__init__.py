"""The engine: what carries a plan out, writes down how far it is, and goes on after a crash."""
