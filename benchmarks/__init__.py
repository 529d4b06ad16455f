"""Speed with quality beside it, peers in the same run."""
