"""The frontier: the URLs that wait to be fetched, and the rules that select the next one."""
