"""One small tree, as accurate as its epsilon allows: chosen level by level, the lower levels drawn."""
