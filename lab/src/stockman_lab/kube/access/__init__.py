"""Who asks an API server, and what they may: credentials, roles, reviews, certificates."""
