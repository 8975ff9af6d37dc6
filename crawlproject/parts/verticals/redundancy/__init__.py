"""Which URLs of a site show what its other pages show: recognised from the pages, learned by pattern."""
