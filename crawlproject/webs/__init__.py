"""Virtual webs: archives, folders of hosts, earlier crawls and the generated sample, behind one interface."""
