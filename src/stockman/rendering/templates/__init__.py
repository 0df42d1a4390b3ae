"""The user's own Jinja templates: rendered like makejinja does, but sandboxed and limited."""
