"""A gateway of a test's own, which says whatever the test wants: real TLS and HTTP/2 against the real commands."""

import contextlib
import json
import socket
import ssl
import threading

import h2.config
import h2.connection
import h2.events
from waiting import HANG


class HostileGateway:
    """Answers every request with a status and a body, and a device's stream with lines; remembers what it was sent."""

    def __init__(self, state, lines=(), status=200, body=b"{}"):
        self.lines, self.status, self.body = list(lines), status, body
        self.received = []
        self.arrived = threading.Condition()
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(state / "server.pem", state / "server.key")
        self.context.set_alpn_protocols(["h2"])
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = "127.0.0.1:%d" % self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.close()

    def accept(self):
        while True:
            try:
                raw, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.attend, args=[raw], daemon=True).start()

    def attend(self, raw):
        """Serves a connection until it ends; a peer may hang up at any moment, also in the handshake."""
        with raw, contextlib.suppress(OSError):
            with self.context.wrap_socket(raw, server_side=True) as peer:
                self.serve(peer)

    def serve(self, peer):
        connection = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False, header_encoding="utf-8"))
        connection.initiate_connection()
        peer.sendall(connection.data_to_send())
        # What is left to send on each stream, and the streams that end with it.
        streams, answered, partial = {}, set(), b""
        while data := peer.recv(1 << 16):
            for event in connection.receive_data(data):
                match event:
                    case h2.events.RequestReceived():
                        path = dict(event.headers)[":path"]
                        if path == "/v1/device/stream":
                            streams[event.stream_id] = b"".join(line + b"\n" for line in self.lines)
                            connection.send_headers(event.stream_id, [(":status", "200")])
                    case h2.events.DataReceived():
                        connection.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
                        if event.stream_id in streams:
                            *lines, partial = (partial + event.data).split(b"\n")
                            with self.arrived:
                                self.received += [json.loads(line) for line in lines]
                                self.arrived.notify_all()
                    case h2.events.StreamEnded() if event.stream_id in streams:
                        del streams[event.stream_id]
                        connection.end_stream(event.stream_id)
                    case h2.events.StreamEnded() if self.status is not None:
                        # After a request without a body, too.
                        connection.send_headers(event.stream_id, [(":status", str(self.status))])
                        streams[event.stream_id] = self.body
                        answered.add(event.stream_id)
                    case h2.events.StreamReset():
                        streams.pop(event.stream_id, None)
            for stream, rest in streams.items():
                while rest and (room := min(connection.local_flow_control_window(stream), 16_384)):
                    connection.send_data(stream, rest[:room])
                    rest = rest[room:]
                streams[stream] = rest
            for stream in [stream for stream in answered if not streams.get(stream)]:
                answered.discard(stream)
                if streams.pop(stream, None) is not None:
                    connection.end_stream(stream)
            peer.sendall(connection.data_to_send())

    def wait(self, condition):
        """Returns when what was received fulfils a condition."""
        with self.arrived:
            assert self.arrived.wait_for(lambda: condition(self.received), HANG), self.received
