"""``adaptive``, the policy of this project: what changes together is watched together."""
