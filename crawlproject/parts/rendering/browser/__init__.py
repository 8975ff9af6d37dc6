"""Pages in a browser: Chromium without a network, whose every request is answered by the crawler itself."""
