"""Tables that side inputs fill: what makes their stores valid, where reading goes on, what waits for them."""
