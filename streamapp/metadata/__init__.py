"""Edge: where what an app knows about itself is kept between two runs, and the locality kept there."""
