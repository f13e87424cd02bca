import { readFileSync, readdirSync } from 'node:fs';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';

// Both pages have what is in the second one.
const folders = ['Services/Operator/Page/', 'Shared/ServiceRuntime/Page/'].map((name) => fileURLToPath(new URL(`../../../../${name}`, import.meta.url)));
const types = { css: 'text/css', html: 'text/html', js: 'text/javascript', svg: 'image/svg+xml' };
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; "
  + "form-action 'none'; frame-ancestors 'none'";

/** The operator's page with answers that a test chooses: the service's part is in `Tests/OperatorTests`. */
export class OperatorServer {
  /** Starts it on a free port of the loopback interface. */
  static async start() {
    const server = new OperatorServer();
    await new Promise((resolve) => { server.http.listen(0, '127.0.0.1', resolve); });
    return server;
  }

  constructor() {
    this.files = new Map(folders.flatMap((folder) => readdirSync(folder).map((name) => [`/${name}`, readFileSync(folder + name)])));
    /** `(request) => answer`, by method and path without the query; an answer is a value, `[status, problem]` or a promise. */
    this.answers = {};
    /** The requests to the API: `{ method, path, query, body }`. */
    this.requests = [];
    this.http = createServer((request, response) => this.answer(request, response));
  }

  get url() { return `http://127.0.0.1:${this.http.address().port}/`; }

  async answer(request, response) {
    const { pathname, searchParams } = new URL(request.url, this.url);
    const headers = { 'Content-Security-Policy': policy, 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' };
    if (!pathname.startsWith('/admin/api/')) {
      const name = this.files.has(pathname) ? pathname : '/index.html';
      const isPage = /^\/(|dead-letters|search|notifications\/.*)$/.test(pathname) || this.files.has(pathname);
      response.writeHead(isPage ? 200 : 404, { ...headers, 'Content-Type': `${types[name.split('.').at(-1)]}; charset=utf-8` });
      return response.end(this.files.get(name));
    }
    const parts = [];
    for await (const part of request) parts.push(part);
    const text = Buffer.concat(parts).toString();
    const asked = { method: request.method, path: pathname.slice(11), query: searchParams, body: text && JSON.parse(text) };
    this.requests.push(asked);
    const answer = this.answers.all ?? this.answers[`${asked.method} ${asked.path}`];
    const value = await (typeof answer === 'function' ? answer(asked) : answer) ?? [404, { detail: 'There is no such notification.' }];
    const [status, content] = Array.isArray(value) ? value : [200, value];
    if (status === 0) return request.socket.destroy();
    response.writeHead(status, { ...headers, 'Content-Type': 'application/json', ...(content.RetryAfter ? { 'Retry-After': content.RetryAfter } : {}) });
    return response.end(JSON.stringify(content));
  }

  async stop() {
    this.http.closeAllConnections();
    await new Promise((resolve) => { this.http.close(resolve); });
  }
}

const ago = (seconds) => new Date(Date.now() - seconds * 1000).toISOString();
const id = (number, seconds = 60) => {
  const time = Math.floor(Date.now() - seconds * 1000).toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${(number * 2654435761 % 4096).toString(16).padStart(3, '0')}-9a1c-`
    + (0xe53818e65d51 - number * 977111123).toString(16).padStart(12, '0');
};

/** A past of half an hour, or shorter. */
function points(size, base) {
  const wave = (index, factor) => Math.round(base * factor * (1 + 0.18 * Math.sin(index / 9) + 0.1 * Math.sin(index / 2.3)) * 100) / 100;
  const all = Array.from({ length: size }, (_, index) => index);
  return {
    At: all.map((index) => ago((size - index) * 5)), P50: all.map((index) => wave(index, 1)),
    P95: all.map((index) => wave(index, 2.1)), P99: all.map((index) => wave(index, 4 + Math.sin(index / 31))),
  };
}

const latency = (name, title, base, count, size) => {
  const all = points(size, base);
  return {
    Name: name, Title: title, WindowSeconds: 60, Count: count, P50Milliseconds: all.P50.at(-1), P95Milliseconds: all.P95.at(-1),
    P99Milliseconds: all.P99.at(-1), Points: all,
  };
};

const lane = (platform, state = 'open', rate = 25.1) => ({
  Platform: platform, Hub: 'securepush', Dispatcher: 'http://127.0.0.1:8082', State: state, Limit: state === 'open' ? 192 : 3,
  SentPerSecond: state === 'refused' ? 0 : rate, FailedPerSecond: state === 'open' ? 0 : 0.4, Held: state === 'open' ? 0 : 10_196, P99Milliseconds: 8.42,
});

const service = (kind, address, memory, cpu) => ({
  Kind: kind, Address: address, State: 'ready', Since: ago(1400), Version: '0.2.0-alpha.1', StartedAt: ago(1400),
  ResidentMemoryBytes: memory * 1_048_576, CpuPercent: cpu,
});

/** A system in which all is well. */
export function calm(span = '1h') {
  return {
    Time: ago(0), Service: 'operator', Version: '0.2.0-alpha.1', State: 'good', Troubles: [],
    Sources: ['database', 'broker', 'ingest', 'dispatcher', 'retrieval'].map((Name) => ({ Name, State: 'up' })),
    Funnel: {
      Window: span, Since: ago(3600), IsCut: false, Accepted: 8308, Published: 8308, Pushed: 8297, Read: 6120, Shown: 5904, Partial: 0,
      Failed: 0, Revoked: 12,
    },
    Rates: { Accepted: 25.1, Published: 25.1, Pushed: 113.5, Retried: 0, Read: 18.2 },
    Queues: [
      { Name: 'securepush.dispatch', Purpose: 'dispatch', Messages: 0, Consumers: 2 },
      ...['1', '5', '30', '120', '600'].map((delay) => ({ Name: `securepush.retry.${delay}`, Purpose: 'retry', Messages: 0, Consumers: 0 })),
      { Name: 'securepush.dead', Purpose: 'dead', Messages: 0, Consumers: 0 },
    ],
    Outbox: { Pending: 0, OldestUnfinishedSeconds: 31 },
    Lanes: ['apple', 'browser', 'fcmv1', 'windows'].map((platform) => lane(platform)),
    PushServices: [{
      Hub: 'securepush', Platform: 'browser', Process: 'hub-1', State: 'open', PushesPerSecond: 1.2, AcceptedPerSecond: 1.1,
      P99Milliseconds: 31, InFlight: 0, RetriesWaiting: 2, RemovalsSuspended: false,
    }],
    Processes: [
      service('dispatcher', 'http://127.0.0.1:8082', 40, 16.2), service('ingest', 'http://127.0.0.1:8080', 42, 8),
      service('operator', 'this process', 31, 0.4), service('retrieval', 'http://127.0.0.1:8081', 40, 0.2),
    ],
    Latencies: [
      latency('accept', 'Accepting a notification', 2.4, 1514, 280), latency('publish', 'Confirm of the broker', 1.8, 1514, 280),
      latency('hub', 'Request to the hub', 3.1, 5962, 280), latency('fetch', 'From accepting to the first read', 94, 1090, 280),
    ],
    Failures: { Window: span, Notifications: 0, Since: ago(3600), Groups: [] },
  };
}

export const failure = (number, Reason, Count, platforms, newest = 8 + number * 40) => ({
  Reason, Count, Platforms: platforms.map((Platform) => ({ Platform, Count })), Oldest: ago(1800), Newest: ago(newest),
  Ids: Array.from({ length: Math.min(Count, 5) }, (_, index) => id(number * 10 + index, newest + index)),
});

/** A system with trouble of every kind, worst first. */
export function trouble(span = '1h') {
  const now = calm(span);
  now.State = 'bad';
  now.Troubles = [
    {
      Level: 'bad', Kind: 'lane', Short: '2 lanes refused', Section: 'lanes',
      Text: 'The hub refuses the credentials of 2 lanes (apple, windows). Check HUB_NAME and the connection string of the dispatchers.',
    },
    {
      Level: 'bad', Kind: 'process', Short: '1 process does not answer', Section: 'processes', Since: ago(95),
      Text: 'retrieval http://127.0.0.1:8081 does not answer: connection refused.',
    },
    { Level: 'warn', Kind: 'dead-letters', Short: '14 dead letters', Section: 'failures', Text: '14 messages are in the dead-letter queue.' },
    { Level: 'warn', Kind: 'failures', Short: '7 failed', Section: 'failures', Text: '7 notifications failed in the last hour.' },
  ];
  Object.assign(now.Funnel, { Pushed: 8236, Read: 60, Shown: 4, Partial: 4, Failed: 7 });
  Object.assign(now.Queues[0], { Messages: 120 });
  now.Queues[2].Messages = 168;
  now.Queues.at(-1).Messages = 14;
  now.Lanes = [lane('apple', 'refused'), lane('browser'), lane('fcmv1', 'paused', 38.1), lane('windows', 'refused')];
  now.Processes[3] = { Kind: 'retrieval', Address: 'http://127.0.0.1:8081', State: 'unreachable', Since: ago(95), Problem: 'connection refused' };
  now.Processes[0] = { ...now.Processes[0], State: 'unready', Problem: 'hub is down: 401' };
  now.GenericTexts = [
    { Code: 'SP-KEY', Sdk: 'swift/0.2.0', Platform: 'apple', Notifications: 1204, Devices: 310, Newest: ago(4) },
    { Code: 'SP-503', Sdk: 'android/0.2.0-alpha.1', Platform: 'fcmv1', Notifications: 60, Devices: 58, Newest: ago(95) },
    { Platform: 'windows', Notifications: 1, Devices: 1, Newest: ago(3000) },
  ];
  now.Outbox = { Pending: 3, OldestDueSeconds: 95, OldestUnfinishedSeconds: 310 };
  now.Failures = {
    Window: span, Notifications: 11, Since: ago(3600), Groups: [
      failure(1, 'HTTP 400: The payload is not valid', 7, ['apple', 'browser', 'fcmv1', 'windows']),
      failure(2, 'HTTP 413: The message is too large', 4, ['windows']),
    ],
  };
  return now;
}

/** A system that has never seen a notification and of which no dispatcher is known. */
export function empty(span = '1h') {
  const now = calm(span);
  for (const name of ['Accepted', 'Published', 'Pushed', 'Read', 'Shown', 'Revoked']) now.Funnel[name] = 0;
  now.Rates = {};
  now.Lanes = [];
  now.PushServices = [];
  now.Sources[3] = { Name: 'dispatcher', State: 'off', Detail: 'DISPATCHER_URL names none.' };
  now.Processes = [now.Processes[2]];
  now.Outbox = { Pending: 0 };
  now.Latencies = now.Latencies.map(({ Name, Title }) => (
    { Name, Title, WindowSeconds: 60, Count: 0, Points: { At: [ago(5)], P50: [null], P95: [null], P99: [null] } }));
  return now;
}

export const letters = () => ({
  Total: 14, DeadLetters: [
    ...Array.from({ length: 6 }, (_, number) => ({
      Id: id(number, 600 - number * 40), Letters: number < 2 ? 2 : 1, Recipient: ['alice', 'bob', 'Dr. Anne-Marie Müller', 'أحمد', 'carol', 'dave'][number],
      AcceptedAt: ago(600 - number * 40), DiedAt: ago(560 - number * 40), Reason: 'HTTP 400: The payload is not valid',
      Platforms: ['apple', 'fcmv1'], Bytes: 182 * (number < 2 ? 2 : 1),
    })),
    { Letters: 1, Reason: 'unreadable: its body is not an ID', Bytes: 2048 },
  ],
});

/** A notification that was read after a failure on one platform. */
export function life(name = id(3, 900)) {
  const at = (seconds) => new Date(Date.now() - 900_000 + seconds * 1000).toISOString();
  const delivery = (Platform, State, more = {}) => ({ Platform, State, Attempts: 1, Unanswered: 0, UpdatedAt: at(0.4), ...more });
  const event = (seconds, Kind, Text, Platform) => ({ At: seconds === null ? undefined : at(seconds), Kind, Text, Platform, IsAhead: seconds > 900 });
  return {
    Id: name, Recipient: 'alice', Sender: 'shop', Status: 'read', Verdict: { Level: 'good', Text: 'Read by the recipient.' }, CreatedAt: at(0),
    ExpiresAt: at(86_400), ReadAt: at(14.2), ShownAt: at(13.9), Claims: 1, Outbox: 'none', OutboxText: 'nothing left to publish', CanResend: true,
    Deliveries: [
      delivery('apple', 'sent', { HubMessageId: '7f2c1d9e-55f0-4c0b-9a3e-2f6f3c1a8d10', Outcome: 'Success' }),
      delivery('browser', 'sent', { Attempts: 2, Unanswered: 1, Outcome: 'Success' }),
      delivery('windows', 'dead', { Error: 'HTTP 400: The payload is not valid' }), delivery('fcmv1', 'skipped', { Attempts: 0 }),
    ],
    Events: [
      event(0, 'accepted', 'Accepted and stored with its outbox entry.'), event(null, 'published', 'The broker has it; dispatchers have claimed it once.'),
      event(0.4, 'sent', 'The hub accepted it after 1 attempt. Its outcome: Success.', 'apple'),
      event(0.5, 'retrying', '1 request had no answer; the hub may have accepted it.', 'browser'),
      event(0.6, 'dead', 'Dead after 1 attempt: HTTP 400: The payload is not valid.', 'windows'),
      event(1.6, 'sent', 'The hub accepted it after 2 attempts. Its outcome: Success.', 'browser'),
      event(13.9, 'shown', 'A device has shown it.'), event(14.2, 'read', 'A device has read it.'), event(86_400, 'expired', 'It expires.'),
    ],
  };
}

export const found = (size = 50, begin = 0) => ({
  Notifications: Array.from({ length: size }, (_, index) => ({
    Id: id(begin + index + 100, 60 * (begin + index)), Sender: 'shop', Status: ['read', 'dispatched', 'failed', 'queued'][index % 4],
    CreatedAt: ago(60 * (begin + index)),
  })),
  Next: id(begin + size + 100, 60 * (begin + size)),
});
