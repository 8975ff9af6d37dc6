"""Item pipelines: each does one step with a page, in the order of ``ITEM_PIPELINES``."""
