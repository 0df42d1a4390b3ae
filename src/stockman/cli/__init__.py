"""The command line: parse, call one function of `app`, print, return an exit status."""
