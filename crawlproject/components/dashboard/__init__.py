"""The live view: a page on loopback that shows crawls while they run, starts them, pauses them and searches them."""
