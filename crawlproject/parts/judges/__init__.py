"""How relevant a page is, by other judges than the words of the keywords: examples, a model, a service, or one of your own."""
