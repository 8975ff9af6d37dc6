"""Begins where earlier crawls have found pages about the topic."""
