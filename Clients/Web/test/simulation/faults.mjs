import { ClientStoreError } from '../../lib/store.js';
import { TransportError } from '../../lib/transport.js';
import { answer, proxyAnswer } from './server.mjs';

/** What goes wrong, as in the table of the Swift SDK. `400`-`503` are statuses of the server. */
export const faults = [
  'none', 'connection refused', 'timeout', 'TLS failure', 'redirect', '10 MB answer', 'wrong JSON', 'wrong ID', '401',
  '401 after refresh', '403', '404', '408', '410', '429 for 1 s', '429 for 3600 s', '500', '503', 'slow body',
  'store full', 'store corrupt', 'store read-only', 'locked device', 'clock forward', 'clock back', 'hostile push',
  'presenter refuses', '200 of a proxy', '400 of a proxy', '401 of a proxy', '404 of a proxy', 'store hangs',
  'store throws', 'presenter hangs',
];

/** Where it begins to go wrong. */
export const stages = [
  'parse', 'verify', 'token', 'fetch', 'refresh', 'inbox', 'markShown', 'keys', 'store', 'present', 'resume',
  'register',
];

/** Only the first time at the stage, or from the stage to the end of the wake. */
export const lengths = ['once', 'lasting'];

const year = 400 * 86_400;

/** One fault at one stage. The simulated parts ask it before they act. */
export class FaultPlan {
  constructor({ fault, stage, length, clock, disk }) {
    Object.assign(this, { fault, stage, length, clock, disk });
    this.isActive = false;
    this.hasStruck = false;
    this.isHealed = false;
    /** Sends hostile pushes to the client. */
    this.attack = () => {};
  }

  /** The wake has reached a stage. */
  reach(stage) {
    if (stage !== this.stage || this.isActive || this.isHealed) return;
    this.isActive = true;
    switch (this.fault) {
      case 'clock forward': this.clock.dateOffset += year; break;
      case 'clock back': this.clock.dateOffset -= year; break;
      case 'store corrupt': this.disk.corrupt(); break;
      case 'hostile push': this.attack(); break;
      default: return;
    }
    this.hasStruck = true;
  }

  /** Everything works again. */
  heal() {
    if (this.isActive && this.fault === 'clock forward') this.clock.dateOffset -= year;
    if (this.isActive && this.fault === 'clock back') this.clock.dateOffset += year;
    this.isActive = false;
    this.isHealed = true;
  }

  /** Whether a request of a kind fails. */
  request(kind) {
    // Both stages ask for a token: one because the old one has expired, one because it was refused.
    this.reach(this.stage === 'refresh' && kind === 'token' ? 'refresh' : kind);
    return this.#strikes();
  }

  /** Throws if a call of the store fails, and returns a promise for one that never ends. */
  store(writes) {
    this.reach('store');
    if (!this.isActive) return;
    if (['store full', 'store read-only'].includes(this.fault) && writes && this.#strikes()) {
      throw new ClientStoreError('unwritable');
    }
    if (this.fault === 'locked device' && this.#strikes()) throw new ClientStoreError('locked');
    if (this.fault === 'store throws' && this.#strikes()) throw new DOMException('No storage here.', 'SecurityError');
    return this.fault === 'store hangs' && this.#strikes() ? new Promise(() => {}) : null;
  }

  /** Throws if the browser refuses to show a secret. */
  present() {
    this.reach('present');
    if (this.fault === 'presenter hangs' && this.#strikes()) return new Promise(() => {});
    if (this.fault === 'presenter refuses' && this.#strikes()) throw new TypeError('No permission.');
    return null;
  }

  #strikes() {
    if (!this.isActive || (this.length === 'once' && this.hasStruck)) return false;
    this.hasStruck = true;
    return true;
  }
}

/** What a failing request ends with. */
export async function failingResponse(fault, request, { server, clock, timeout, maxBytes }) {
  const status = /^(\d{3})(?: for (\d+) s)?$/.exec(fault);
  if (status) return answer(Number(status[1]), null, status[2] ? { 'retry-after': status[2] } : {});
  const ofProxy = /^(\d{3}) of a proxy$/.exec(fault);
  if (ofProxy) return proxyAnswer(Number(ofProxy[1]));
  switch (fault) {
    case 'connection refused': throw new TransportError('unreachable');
    case 'timeout':
      // The server has done its work; its answer is lost.
      server.respond(request);
      await clock.sleep(timeout);
      throw new TransportError('timedOut');
    case 'slow body':
      // A transport that does not keep to the time-out.
      server.respond(request);
      await clock.sleep(600);
      throw new TransportError('timedOut');
    case 'TLS failure': throw new TransportError('untrusted');
    case 'redirect': return answer(302, null, { location: 'https://evil.example/' });
    case '10 MB answer':
      if (maxBytes < 10 << 20) throw new TransportError('tooLarge');
      return { ...answer(200), body: new Uint8Array(10 << 20) };
    case 'wrong JSON': return answer(200, '{"Id":7,"Payload":');
    case 'wrong ID':
      return answer(200, { Id: '019aa4a2-ffff-7000-8000-000000000000', Payload: "another's", Read: false });
    case '401 after refresh': return answer(401);
    default: return server.respond(request);
  }
}

/**
 * Texts that claim to be pushes for a notification: wrong types, huge, forged, with a host, with control characters.
 */
export function hostileTexts(id) {
  const sig = 'A'.repeat(86);
  const objects = [
    { secureId: 7 }, { secureId: { a: id } }, { secureId: [id] }, { secureId: null }, { secureId: '' },
    { secureId: 'x'.repeat(1 << 20) }, { secureId: `${id}/../../token` }, { secureId: `${id}\0` },
    { secureId: `\u202e${id}` }, { secureId: `https://evil.example/${id}` }, { secureId: id }, { secureId: id, sig },
    { secureId: id, ts: '1', sig }, { secureId: id, ts: '-9223372036854775808', sig },
    { secureId: id, ts: '99999999999999999999999999', sig }, { secureId: id, ts: 1_763_800_000, sig },
    { secureId: id, ts: '1763801000', sig: '====', host: 'evil.example' },
    { secureId: id, ts: '1763801000', sig, url: 'https://evil.example/api' },
    { secureId: id, withdraw: '1', ts: '1763801000', sig }, { secureId: id, withdraw: true },
    { secureId: id, withdraw: ['1'] }, JSON.parse(`{"__proto__":{"secureId":"${id}"}}`),
  ];
  return [
    ...objects.map((object) => JSON.stringify(object)), '', '[', '[]', 'null', '7', '"text"', '{"secureId":{}}',
    `{"secureId":"${id}","secureId":1}`, `${id} withdraw`, '\0\x1b[2J', '['.repeat(8_000), '['.repeat(100_000),
  ];
}
