"""Git repositories of a lab: real bare ones, served over HTTP by git itself."""
