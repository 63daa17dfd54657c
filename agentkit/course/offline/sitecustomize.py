"""Refuse every network connection that leaves this machine.

Python imports a module of this name when it starts. The folder of this file is put on PYTHONPATH for the kernels that
build and test the notebooks, so that a cell that needs the network fails there and not first at a learner's desk. The
tests load the same file into their own process. It must not import agentkit: what that import loads is tested.

An audit hook (PEP 578) is used because it also sees what does not go through the `socket` module's Python classes. It
cannot be removed again.
"""

import ipaddress
import sys

WATCHED = {
    "socket.connect": 1,
    "socket.sendto": 1,
    "socket.sendmsg": 1,
    "socket.getaddrinfo": 0,
    "socket.gethostbyname": 0,
}
"""Which argument of each audit event is the host or the address."""


def is_loopback(address):
    """True for an address on this machine: loopback, a Unix socket, or the empty host that means "any of mine"."""
    host = address[0] if isinstance(address, tuple) else address
    if isinstance(host, bytes):
        host = host.decode("utf-8", "replace")
    if not host or host == "localhost" or not isinstance(host, str):
        return True
    if not isinstance(address, tuple) and host.startswith(("/", "\0")):
        return True
    try:
        parsed = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return False
    return parsed.is_loopback or parsed.is_unspecified


def refuse_network(event, arguments):
    """The audit hook. Raises ConnectionRefusedError, which a program sees as an unreachable network."""
    position = WATCHED.get(event)
    if position is not None and not is_loopback(arguments[position]):
        address = arguments[position]
        raise ConnectionRefusedError(f"This run is offline: a connection to {address!r} was refused.")


sys.addaudithook(refuse_network)
