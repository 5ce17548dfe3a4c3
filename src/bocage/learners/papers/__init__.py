"""The learners of the published papers, one file for each algorithm, and what they share."""
