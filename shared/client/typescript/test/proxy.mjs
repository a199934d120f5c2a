// A proxy in front of a service that loses answers, or answers in its place.
import { createServer, request } from "node:http";

export class Proxy {
  /** Requests as they came: method, url, headers and body. */
  seen = [];
  /** What happens to the next requests; those after them pass. */
  script = [];

  static async start(context, target) {
    const p = new Proxy();
    const server = createServer(async (req, res) => {
      const parts = [];
      for await (const part of req) parts.push(part);
      const body = Buffer.concat(parts);
      p.seen.push({ method: req.method, url: req.url, headers: req.headers, body: body.toString(), at: Date.now() });
      const what = p.script.shift() ?? "pass";
      if (what === "refuse") return res.destroy();
      if (typeof what === "object") {
        res.writeHead(what.status, what.headers ?? {});
        return res.end(what.body === undefined ? "" : JSON.stringify(what.body));
      }
      const headers = { ...req.headers, host: new URL(target).host };
      const onward = request(target + req.url, { method: req.method, headers }, async answer => {
        const got = [];
        for await (const part of answer) got.push(part);
        const text = Buffer.concat(got);
        if (what === "lose") return res.destroy(); // after the commit
        const status = what === "unavailable" ? 503 : answer.statusCode; // carried out, but the answer says that it failed
        res.writeHead(status, answer.headers);
        if (what !== "cut") return res.end(text);
        res.write(text.subarray(0, 20));
        setTimeout(() => res.destroy(), 50);
      });
      onward.on("error", () => res.destroy());
      onward.end(body);
    });
    await new Promise(resolve => server.listen(0, "127.0.0.1", resolve));
    context.after(() => new Promise(resolve => {
      server.close(resolve);
      server.closeAllConnections();
    }));
    p.url = `http://127.0.0.1:${server.address().port}`;
    return p;
  }

  /** Runs a call while the next requests meet a script, and returns the requests that came. */
  async during(script, call) {
    this.script = [...script];
    const before = this.seen.length;
    const result = await call().then(value => ({ value }), error => ({ error }));
    this.script = [];
    return { ...result, sent: this.seen.slice(before) };
  }
}
