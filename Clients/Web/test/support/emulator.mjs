import { spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../../../', import.meta.url));

/** A hub emulator of its own on a free port, and requests to its hub as a client signs them. */
export class HubEmulator {
  static async start() {
    const bin = process.env.SECUREPUSH_BIN ?? join(root, '.build/debug');
    const executable = join(bin, 'hub-emulator');
    if (!existsSync(executable)) throw new Error(`${executable} is missing; run \`make build\` first.`);
    const child = spawn(executable, [], {
      env: { PATH: process.env.PATH, HTTP_PORT: '0' }, stdio: ['ignore', 'pipe', 'ignore'],
    });
    process.once('exit', () => child.kill('SIGKILL'));
    const line = await new Promise((resolve, reject) => {
      let text = '';
      child.once('exit', (code) => reject(new Error(`hub-emulator ended (${code})`)));
      child.stdout.on('data', (data) => {
        text += data;
        if (text.includes('\n')) resolve(text.split('\n')[0]);
      });
    });
    return new HubEmulator(child, line);
  }

  constructor(child, connectionString) {
    this.child = child;
    this.connectionString = connectionString;
    const part = (name) => new RegExp(`(?:^|;)${name}=([^;]*)`).exec(connectionString)[1];
    this.url = part('Endpoint').replace(/\/$/, '');
    this.keyName = part('SharedAccessKeyName');
    this.key = part('SharedAccessKey');
    this.streams = new Set();
  }

  /** A request to the hub, signed with the full rule. */
  async hub(method, path, { headers = {}, body } = {}) {
    const expiry = Math.floor(Date.now() / 1000) + 600;
    const resource = encodeURIComponent(`${this.url}/`.toLowerCase());
    const signature = createHmac('sha256', this.key).update(`${resource}\n${expiry}`).digest('base64');
    const Authorization = `SharedAccessSignature sr=${resource}&sig=${encodeURIComponent(signature)}`
      + `&se=${expiry}&skn=${this.keyName}`;
    const response = await fetch(`${this.url}${path}`, { method, body, headers: { ...headers, Authorization } });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return response;
  }

  /** Sends a native notification. */
  send(format, tags, body, headers = {}) {
    return this.hub('POST', '/securepush/messages', {
      body, headers: {
        'ServiceBusNotification-Format': format, 'ServiceBusNotification-Tags': tags,
        'Content-Type': format === 'windows' ? 'application/octet-stream' : 'application/json', ...headers,
      },
    });
  }

  /** Sends the silent pushes of a notification to the platforms of SecurePush. */
  async push(id, user, { withdraw = false } = {}) {
    const withdrawn = withdraw ? { withdraw: '1' } : {};
    const tags = `username:${user}`;
    await this.send('apple', tags, JSON.stringify({ aps: { 'content-available': 1 }, secureId: id, ...withdrawn }),
      { 'apns-push-type': 'background', 'apns-priority': '5' });
    await this.send('fcmv1', tags, JSON.stringify({
      message: { data: { secureId: id, ...withdrawn }, android: { priority: 'high' } },
    }));
    await this.send('windows', tags, withdraw ? `${id} withdraw` : id, { 'X-WNS-Type': 'wns/raw' });
    await this.send('browser', tags, JSON.stringify({ secureId: id, ...withdrawn }));
  }

  /** Registers a device of a user. */
  async register(platform, handle, user, { on = false } = {}) {
    const pushChannel = platform === 'browser'
      ? { endpoint: handle, p256dh: 'BA', auth: 'AA' } : handle;
    await this.hub('PUT', `/securepush/installations/${encodeURIComponent(`${platform}-${user}`)}`, {
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({
        installationId: `${platform}-${user}`, platform: platform === 'apple' ? 'apns' : platform === 'windows' ? 'wns' : platform,
        pushChannel, tags: [`username:${user}`],
      }),
    });
    if (on) await this.switchOn(handle);
  }

  /** Opens the device's stream: the device is on. */
  async switchOn(handle) {
    const controller = new AbortController();
    this.streams.add(controller);
    const response = await fetch(`${this.url}/emulator/devices/${encodeURIComponent(handle)}/stream`, {
      signal: controller.signal,
    });
    response.body.pipeTo(new WritableStream()).catch(() => {});
  }

  async display(handle, Id, Text, Kind = 'payload') {
    await fetch(`${this.url}/emulator/devices/${encodeURIComponent(handle)}/display`, {
      method: 'POST', body: JSON.stringify({ Id, Text, Kind }),
    });
  }

  async addFault(fault) {
    await fetch(`${this.url}/emulator/faults`, { method: 'POST', body: JSON.stringify(fault) });
  }

  async stop() {
    for (const stream of this.streams) stream.abort();
    const ended = new Promise((resolve) => { this.child.once('exit', resolve); });
    this.child.kill('SIGTERM');
    await ended;
  }
}
