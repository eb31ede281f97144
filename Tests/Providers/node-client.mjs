// Sends pushes with node:http2, all at once on one connection; prints a JSON object with the number of each status.
//
// Usage: node node-client.mjs URL CA COUNT [PROXY [PREFIX]]
// PROXY: host:port of a proxy, by which the host of URL is reached; empty for none. PREFIX: of the paths.
import fs from "node:fs";
import http from "node:http";
import http2 from "node:http2";
import tls from "node:tls";

const [url, ca, count, proxy, prefix = ""] = process.argv.slice(2);
const { hostname, port } = new URL(url);
const authority = `${hostname}:${port || 443}`;

function tunnel() {
  const [host, port] = proxy.split(":");
  return new Promise((resolve, reject) => {
    http.request({ host, port, method: "CONNECT", path: authority })
      .on("connect", (response, socket) =>
        response.statusCode === 200 ? resolve(socket) : reject(new Error(response.statusCode)))
      .on("error", reject)
      .end();
  });
}

const options = { ca: fs.readFileSync(ca) };
if (proxy) {
  const socket = await tunnel();
  options.createConnection = () =>
    tls.connect({ socket, servername: hostname, ca: options.ca, ALPNProtocols: ["h2"] });
}
const session = http2.connect(url, options);
session.on("error", (error) => { console.error(error); process.exit(1); });

function push(number) {
  return new Promise((resolve, reject) => {
    const body = JSON.stringify({ aps: { alert: "Hello" }, number });
    const request = session.request({
      ":method": "POST", ":path": `${prefix}/3/device/${number.toString(16).padStart(64, "0")}`,
      "apns-topic": "com.example.app", "content-length": Buffer.byteLength(body),
    });
    let status;
    request.on("response", (headers) => { status = headers[":status"]; });
    request.on("error", reject);
    request.on("end", () => resolve(status));
    request.resume();
    request.end(body);
  });
}

const statuses = {};
for (const status of await Promise.all(Array.from({ length: Number(count) }, (_, number) => push(number)))) {
  statuses[status] = (statuses[status] ?? 0) + 1;
}
console.log(JSON.stringify(statuses));
session.close();
