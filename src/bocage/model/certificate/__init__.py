"""What was guaranteed when a model was made: releases, their sum, and the words for it."""
