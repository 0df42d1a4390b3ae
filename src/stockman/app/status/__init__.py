"""How a cluster is: judged from one look at everything, with what to do about what is wrong."""
