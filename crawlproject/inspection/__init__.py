"""What a page, a host and a site are worth: spam, duplicates, URL rules, site budgets, link farms, probes."""
