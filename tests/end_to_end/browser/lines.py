"""A line between a browser and a service that can be cut and mended."""

from __future__ import annotations

import contextlib
import socket
import threading


class Line:
    """Carries bytes from a port of its own to another one."""

    def __init__(self, port: int) -> None:
        self._to, self._whole, self._open = port, True, []
        self._door = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._door.getsockname()[1]}"
        threading.Thread(target=self._listen, daemon=True).start()

    def cut(self) -> None:
        """End all connections; new ones are closed at once."""
        self._whole = False
        for one in self._open:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
        self._open.clear()

    def mend(self) -> None:
        self._whole = True

    def stop(self) -> None:
        self.cut()
        self._door.close()

    def _listen(self) -> None:
        while True:
            try:
                near, _ = self._door.accept()
            except OSError:  # stopped
                return
            if not self._whole:
                near.close()
                continue
            far = socket.create_connection(("127.0.0.1", self._to))
            self._open += [near, far]
            for ends in ((near, far), (far, near)):
                threading.Thread(target=_carry, args=ends, daemon=True).start()


def _carry(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
    with contextlib.suppress(OSError):
        target.shutdown(socket.SHUT_RDWR)
    source.close()  # the other direction closes the other end
