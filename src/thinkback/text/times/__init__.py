"""Times in words: dates, feasts and loose times, English and Chinese, as half-open intervals."""
