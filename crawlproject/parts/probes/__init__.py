"""Second looks at sites: is a page the same for a browser, and how does a host answer for a page that does not exist?"""
