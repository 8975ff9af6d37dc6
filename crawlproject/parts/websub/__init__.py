"""Hubs report that feeds have changed (WebSub)."""
