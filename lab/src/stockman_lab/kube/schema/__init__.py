"""What kinds of objects there are and how they are made.

A body goes through `reading.read_json`, `decoding.decoding_error` (built-in kinds) or
`validating.violations` (custom kinds), `unknown.complaints`, `rewriting.rewritten` (built-in) or
`pruning.prune` (custom), and `defaulting.fill_defaults`; all take the type that `types.Types` has
for its kind.
"""
