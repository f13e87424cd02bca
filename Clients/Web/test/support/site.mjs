import { execFile } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { SimulatedServer } from '../simulation/server.mjs';

const script = fileURLToPath(new URL('../../../../scripts/web-app.sh', import.meta.url));
const types = {
  '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml', '.png': 'image/png',
  '.webmanifest': 'application/manifest+json',
};

/** The example on an origin of its own, with a simulated retrieval service there. It needs none of the services. */
export class Site {
  static async start() {
    const site = new Site();
    site.server = new SimulatedServer();
    site.http = createServer((request, response) => site.#respond(request, response));
    await new Promise((resolve) => { site.http.listen(0, '127.0.0.1', resolve); });
    site.url = `http://127.0.0.1:${site.http.address().port}/`;
    site.folder = await mkdtemp(join(tmpdir(), 'securepush-web-site.'));
    await promisify(execFile)(script, [site.folder, site.url]);
    site.headers = Object.fromEntries(readFileSync(join(site.folder, '_headers'), 'utf8').split('\n')
      .filter((line) => /^ {2}\S/.test(line)).map((line) => line.trim().split(/: (.*)/).slice(0, 2)));
    return site;
  }

  // What `WebApp` asks a stack for.
  get app() { return this.url; }
  get emulator() { return this.url.slice(0, -1); }
  get password() { return SimulatedServer.password; }

  async #respond(request, response) {
    const parts = [];
    for await (const part of request) parts.push(part);
    const { pathname, search } = new URL(request.url, this.url);
    if (pathname.startsWith('/api/')) {
      const { authorization: Authorization } = request.headers;
      const { status, headers, body } = this.server.respond({
        method: request.method, url: `${SimulatedServer.url}${pathname}${search}`, headers: { Authorization },
        body: parts.length > 0 ? Buffer.concat(parts).toString() : null,
      });
      response.writeHead(status, headers).end(request.method === 'HEAD' ? undefined : body);
      return;
    }
    const path = pathname.endsWith('/') ? `${pathname}index.html` : pathname;
    try {
      const file = readFileSync(join(this.folder, path));
      response.writeHead(200, { ...this.headers, 'Content-Type': types[extname(path)] ?? 'text/plain' }).end(file);
    } catch {
      response.writeHead(404).end();
    }
  }

  stop() {
    this.http.closeAllConnections();
    this.http.close();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
