"""Hubs say when feeds have changed (WebSub)."""
