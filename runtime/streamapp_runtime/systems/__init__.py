"""Systems of streams behind one Protocol, and how a process connects to them."""
