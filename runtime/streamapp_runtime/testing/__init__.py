"""The test kit: an app inside the test's own process, without JVM, broker or waiting.

Users import it as `streamapp.testing`. It may import all of the runtime but the commands.
`streamapp dev` runs apps with it; nobody else imports it.
"""
