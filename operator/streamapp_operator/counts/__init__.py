"""How many partitions the streams of an app have, as far as anybody can be asked."""
