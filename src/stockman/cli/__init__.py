"""The command line: parse arguments, call one function of `app`, print, return an exit status."""
