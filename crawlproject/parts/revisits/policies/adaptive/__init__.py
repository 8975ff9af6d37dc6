"""``adaptive``, the policy of this project: pages that change together are watched together."""
