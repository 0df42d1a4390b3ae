"""Settings of the documentation: `make docs` builds it, with every broken link as an error."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "src"), str(ROOT / "lab/src")]

from stockman import __version__  # noqa: E402 -- after the path is set

project = "stockman"
author = "The stockman authors"
project_copyright = "The stockman authors, Apache-2.0"
version = release = __version__

extensions = ["myst_parser", "docs._ext.reference"]
myst_enable_extensions = ["attrs_inline", "deflist"]
myst_heading_anchors = 3
smartquotes = False
exclude_patterns = ["_ext", "Thumbs.db", ".DS_Store"]

html_theme = "furo"
html_title = "stockman"
html_static_path = ["_static"]
html_css_files = ["stockman.css"]
html_copy_source = False
html_show_sourcelink = False
highlight_language = "none"
