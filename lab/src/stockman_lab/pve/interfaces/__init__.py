"""Network interfaces of hosts: what the file says, what holds, and what is wrong with it."""
