import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const root = fileURLToPath(new URL('../../../../', import.meta.url));
const run = promisify(execFile);

/** A private stack of the services (`scripts/stack.sh`) on ports that the system hands out. */
export class Stack {
  /**
   * @param {Record<string, string>} [settings] of every service, as `STACK_NAME`
   * @param {(credentials: object) => void} [prepare] changes the hub's credentials (PUSH_CREDENTIALS_FILE)
   */
  static async start(settings = {}, prepare = undefined) {
    const bin = process.env.SECUREPUSH_BIN ?? join(root, '.build/debug');
    for (const name of ['ingest', 'dispatcher', 'retrieval', 'hub', 'securepush']) {
      if (!existsSync(join(bin, name))) throw new Error(`${join(bin, name)} is missing; run \`make build\` first.`);
    }
    const folder = await mkdtemp(join(tmpdir(), 'securepush-web-stack.'));
    const stack = new Stack(folder, bin, settings);
    for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => stack.stop().finally(() => process.exit(1)));
    // Names that the scripts would take by default belong to the developer's own stack.
    const names = ['hub_port', 'ingest_port', 'dispatcher_port', 'retrieval_port', 'operator_port'];
    const ports = await freePorts(names.length);
    mkdirSync(join(folder, 'run'), { recursive: true });
    writeFileSync(join(folder, 'run/ports'), names.map((name, index) => `${name}=${ports[index]}\n`).join(''));
    if (prepare) {
      await run(join(bin, 'securepush'), ['setup', '--directory', folder]);
      const file = join(folder, 'secrets/push-credentials.json');
      const credentials = JSON.parse(readFileSync(file, 'utf8'));
      prepare(credentials.securepush);
      writeFileSync(file, JSON.stringify(credentials));
    }
    try {
      await run(join(root, 'scripts/stack.sh'), ['up', folder], { env: stack.environment });
    } catch (error) {
      await stack.stop();
      throw new Error(`The stack did not start: ${error.stderr}`);
    }
    const text = readFileSync(join(folder, 'run/ports'), 'utf8');
    stack.ports = Object.fromEntries(text.trim().split('\n').map((line) => line.split('=')));
    return stack;
  }

  constructor(folder, bin, settings = {}) {
    this.folder = folder;
    this.bin = bin;
    this.environment = { ...process.env, SECUREPUSH_BIN: bin, DISPATCH_WITHDRAW: 'revoked', ...settings };
  }

  get emulator() { return `http://127.0.0.1:${this.ports.hub_port}`; }
  get app() { return `${this.emulator}/emulator/app/`; }
  get retrieval() { return `http://127.0.0.1:${this.ports.retrieval_port}`; }
  get operatorPage() { return `http://127.0.0.1:${this.ports.operator_port}/`; }
  get password() { return this.secret('alice.password'); }

  secret(name) { return readFileSync(join(this.folder, 'secrets', name), 'utf8').trim(); }

  /** Runs `securepush` and returns its output. */
  async securepush(...args) {
    const { stdout } = await run(join(this.bin, 'securepush'), args, {
      env: {
        ...this.environment, INGEST_URL: `http://127.0.0.1:${this.ports.ingest_port}`, RETRIEVAL_URL: this.retrieval,
        HUB_EMULATOR_URL: this.emulator, INGEST_API_KEY: this.secret('ingest-api-key'),
      },
    });
    return stdout.trim();
  }

  /** Sends a secret to alice, and returns its ID. */
  async send(payload, ...args) {
    const output = await this.securepush('send', '--to', 'alice', '--payload', payload, ...args);
    return output.split('\n')[0];
  }

  /** Sends a message to alice that asks for an answer, and returns its ID. */
  async ask(message, { answers, challenge = undefined }) {
    const Authorization = `Bearer ${this.secret('ingest-api-key')}`;
    const { Id } = await this.json(`http://127.0.0.1:${this.ports.ingest_port}/api/notifications`, {
      method: 'POST', headers: { Authorization, 'Content-Type': 'application/json' },
      body: JSON.stringify({ Recipient: 'alice', Payload: message, Answers: answers, Challenge: challenge }),
    });
    return Id;
  }

  /** Sends many secrets to alice, one after another, and returns their IDs. */
  async sendAll(payloads) {
    const Authorization = `Bearer ${this.secret('ingest-api-key')}`;
    const response = await fetch(`http://127.0.0.1:${this.ports.ingest_port}/api/notifications/batch`, {
      method: 'POST', headers: { Authorization, 'Content-Type': 'application/x-ndjson' },
      body: payloads.map((Payload) => `${JSON.stringify({ Recipient: 'alice', Payload })}\n`).join(''),
    });
    return (await response.text()).trim().split('\n').map((line) => JSON.parse(line).Id);
  }

  /** The public keys to which a sender encrypts. */
  recipientKeys(name) {
    return this.json(`http://127.0.0.1:${this.ports.ingest_port}/api/recipients/${name}/keys`, {
      headers: { Authorization: `Bearer ${this.secret('ingest-api-key')}` },
    });
  }

  /** What the retrieval service returns to alice. */
  fetchAsAlice(id) {
    const Authorization = `Basic ${Buffer.from(`alice:${this.password}`).toString('base64')}`;
    return this.json(`${this.retrieval}/api/notifications/${id}`, { headers: { Authorization } });
  }

  /** Marks all of alice's notifications up to this one as read. */
  async markAsReadThrough(Through) {
    const Authorization = `Basic ${Buffer.from(`alice:${this.password}`).toString('base64')}`;
    const response = await fetch(`${this.retrieval}/api/notifications/read`, {
      method: 'POST', headers: { Authorization, 'Content-Type': 'application/json' }, body: JSON.stringify({ Through }),
    });
    if (!response.ok) throw new Error(`${response.status}`);
  }

  async json(path, options = {}) {
    const response = await fetch(new URL(path, this.emulator), options);
    if (!response.ok) throw new Error(`${path}: ${response.status}`);
    return response.json();
  }

  /** The body of the push to browsers that the emulator has recorded for a notification. */
  async push(id, { withdraw = false } = {}) {
    const deadline = Date.now() + 60_000;
    for (;;) {
      const found = (await this.json('/emulator/messages')).find((record) => (
        record.Platform === 'browser' && record.Kind === 'send' && record.Body.includes(id)
        && record.Body.includes('withdraw') === withdraw));
      if (found) return found.Body;
      if (Date.now() > deadline) throw new Error(`No push for ${id} crossed the hub.`);
      await new Promise((done) => setTimeout(done, 50));
    }
  }

  async stop() {
    await run(join(root, 'scripts/stack.sh'), ['down', this.folder], { env: this.environment }).catch(() => {});
    await rm(this.folder, { recursive: true, force: true });
  }
}

/** Ports that are free now. */
async function freePorts(count) {
  const servers = await Promise.all(Array.from({ length: count }, () => new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => resolve(server));
  })));
  const ports = servers.map((server) => server.address().port);
  await Promise.all(servers.map((server) => new Promise((resolve) => { server.close(resolve); })));
  return ports;
}
