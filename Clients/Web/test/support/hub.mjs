import { execFile, spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** A VAPID key, a certificate of the push service, and the hub that uses them: the settings of K1 and K2. */
export class Hub {
  static async prepare() {
    const folder = mkdtempSync(join(tmpdir(), 'securepush-web-hub.'));
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    writeFileSync(join(folder, 'vapid.pem'), privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });
    await run('openssl', [
      'req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2',
      '-subj', '/CN=push service', '-addext', 'subjectAltName=IP:127.0.0.1',
      '-keyout', join(folder, 'tls.key'), '-out', join(folder, 'tls.pem'),
    ]);
    const { x, y } = publicKey.export({ format: 'jwk' });
    const point = Buffer.concat([Buffer.from([4]), Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url')]);
    return new Hub(folder, point.toString('base64url'));
  }

  constructor(folder, publicKey) {
    this.folder = folder;
    /** The public VAPID key in base64url. */
    this.publicKey = publicKey;
  }

  path(name) { return join(this.folder, name); }

  get tls() { return { cert: readFileSync(this.path('tls.pem')), key: readFileSync(this.path('tls.key')) }; }

  /**
   * Starts the hub in the place of a stack's hub emulator: at its address, with its key.
   *
   * @param {import('./stack.mjs').Stack} stack
   * @param {string} pushHost the host and port of the push service's endpoints
   */
  async start(stack, pushHost) {
    await stack.stopService('hub-emulator');
    const connectionString = readFileSync(join(stack.folder, 'run/hub-connection-string'), 'utf8').trim();
    const part = (name) => new RegExp(`(?:^|;)${name}=([^;]*)`).exec(connectionString)[1];
    const write = (name, text) => writeFileSync(this.path(name), text, { mode: 0o600 });
    write('access', `securepush ${part('SharedAccessKeyName')} Manage ${part('SharedAccessKey')}\n`);
    const simulated = { simulated: true };
    write('credentials.json', JSON.stringify({
      securepush: {
        apns: simulated, fcm: simulated, wns: simulated, caFile: 'tls.pem',
        webPush: { privateKeyFile: 'vapid.pem', subject: 'mailto:ops@example.org', allowedHosts: [pushHost] },
      },
    }));
    this.child = spawn(join(stack.bin, 'securepush'), ['serve', 'hub'], {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: {
        PATH: process.env.PATH, HTTP_PORT: stack.ports.emulator_port, DATABASE_URL: `sqlite:${this.path('hub.sqlite')}`,
        HUB_ACCESS_FILE: this.path('access'), PUSH_CREDENTIALS_FILE: this.path('credentials.json'),
      },
    });
    process.once('exit', () => this.child.kill('SIGKILL'));
    this.log = '';
    this.child.stderr.on('data', (data) => { this.log = (this.log + data).slice(-20_000); });
    await this.#untilReady(`${stack.emulator}/readyz`);
  }

  async #untilReady(url) {
    const deadline = Date.now() + 20_000;
    while (!(await fetch(url).catch(() => null))?.ok) {
      if (this.child.exitCode !== null || Date.now() > deadline) throw new Error(`The hub did not start.\n${this.log}`);
      await new Promise((resolve) => { setTimeout(resolve, 50); });
    }
  }

  async stop() {
    if (this.child && this.child.exitCode === null) {
      const ended = new Promise((resolve) => { this.child.once('exit', resolve); });
      this.child.kill('SIGTERM');
      await ended;
    }
    rmSync(this.folder, { recursive: true, force: true });
  }
}
