"""Users' own Jinja trees: rendered as makejinja renders them, but fenced in and bounded."""
