"""When a page is visited again: change models (``estimators/``), and what a budget of visits buys (``policies/``)."""
