# Takes firings of svc and checks their signatures. Run: python3 examples/receiver.py 9000 whsec_…
import base64, hashlib, hmac, json, sys, time
from http.server import BaseHTTPRequestHandler, HTTPServer

port, key = int(sys.argv[1]), base64.b64decode(sys.argv[2].removeprefix("whsec_"))

class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        at = self.headers["webhook-timestamp"] or "0"
        signed = f"{self.headers['webhook-id']}.{at}.".encode() + body
        own = "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
        given = (self.headers["webhook-signature"] or "").split()
        genuine = any(hmac.compare_digest(one, own) for one in given) and abs(time.time() - int(at)) <= 300
        self.send_response(204 if genuine else 401)
        self.end_headers()
        if genuine:  # The same id may come again: what it does must be safe to repeat.
            print(json.loads(body)["reason"], flush=True)

server = HTTPServer(("127.0.0.1", port), Receiver)
print("listening", json.dumps({"port": server.server_address[1]}), flush=True)
server.serve_forever()
