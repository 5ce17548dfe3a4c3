"""What the reproductions share: data sets, a resumable runner, reports and plain baselines."""
