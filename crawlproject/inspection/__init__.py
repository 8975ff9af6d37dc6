"""What a document is besides what it says: walls and other documents without content, spam; and how hosts behave."""
