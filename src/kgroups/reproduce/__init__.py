"""The experiments of the paper, its numbers beside ours."""
