# Signs requests and puts the names of existing items into paths, since schemathesis can
# do neither.
import base64, hashlib, json, os, time
import schemathesis
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from requests.auth import AuthBase

with open(os.environ["KEY"], "rb") as f:
    key = load_pem_private_key(f.read(), None)
there = json.loads(os.environ["THERE"])


def b64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


class Caller(AuthBase):
    def __call__(self, r):
        if r.path_url.partition("?")[0] == "/mcp":  # accepts only tokens
            r.headers["Authorization"] = "Bearer " + os.environ["TOKEN"]
            return r
        body = r.body or b""
        if isinstance(body, str):
            body = body.encode()
        ts = str(int(time.time() * 1000))
        message = "\n".join([r.method, r.path_url, ts, hashlib.sha256(body).hexdigest()])
        r.headers["x-agent-key"] = b64url(key.public_key().public_bytes_raw())
        r.headers["x-agent-ts"] = ts
        r.headers["x-agent-sig"] = b64url(key.sign(message.encode()))
        return r


schemathesis.auth.set_from_requests(Caller())


@schemathesis.hook
def map_path_parameters(context, path_parameters):
    """Makes every other request name an item that exists."""
    if not path_parameters or hashlib.sha256(repr(path_parameters).encode()).digest()[0] % 2:
        return path_parameters
    path = context.operation.path
    return {name: there.get(path, there.get(name, value)) if name != "id" or path in there or "/posts/" in path else value
            for name, value in path_parameters.items()}
