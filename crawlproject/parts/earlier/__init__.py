"""Starts a crawl also from pages about the topic that earlier crawls have found."""
