"""The schema of the API: which calls exist, what they take, and what is said about bad values."""
