"""Named formats: what each demands of a text, and what it says when it does not fit."""
