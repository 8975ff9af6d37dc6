"""Second looks at sites: is a page the same for a browser, and what does a host say of a page that is not there?"""
