// For development: a device of the hub emulator in place of a push service. The emulator serves this page, so both are
// of one origin.
import { emulatorDevices } from './config.js';

const handleKey = 'emulator-device';

/** The device. Its endpoint reaches nothing but the emulator's stream. */
export async function emulatedDevice() {
  const known = JSON.parse(localStorage.getItem(handleKey) ?? 'null');
  if (known) return known;
  const pair = await crypto.subtle.generateKey({ name: 'ECDH', namedCurve: 'P-256' }, true, ['deriveBits']);
  const channel = {
    endpoint: `https://emulator.invalid/browser/${crypto.randomUUID()}`,
    p256dh: base64URL(await crypto.subtle.exportKey('raw', pair.publicKey)),
    auth: base64URL(crypto.getRandomValues(new Uint8Array(16))),
  };
  const device = { platform: 'browser', channel, tags: [] };
  localStorage.setItem(handleKey, JSON.stringify(device));
  return device;
}

const address = (device) => `${emulatorDevices}${encodeURIComponent(device.channel.endpoint)}`;

/** Hands every push of the stream to the service worker, which handles it like one of a push service. */
export function listen(device, registration) {
  const stream = new EventSource(`${address(device)}/stream`);
  stream.addEventListener('notification', ({ data }) => {
    registration.active?.postMessage({ kind: 'securepush.push', text: JSON.parse(data).Body });
  });
  return stream;
}

/** Tells the emulator which notifications the user sees, for its page. */
export class EmulatedDisplay {
  constructor(device, registration) {
    this.device = device;
    this.registration = registration;
    this.shown = new Map();
  }

  async update() {
    const now = new Map();
    for (const { data, body } of await this.registration.getNotifications()) {
      if (data?.securePush === 1 && data.kind !== 'brief') now.set(data.secureId ?? data.kind, { body, kind: data.kind });
    }
    for (const [id, { body, kind }] of now) {
      if (this.shown.get(id)?.body !== body) await this.#show(id, body, kind);
    }
    for (const id of this.shown.keys()) {
      if (!now.has(id)) await fetch(`${address(this.device)}/display/${encodeURIComponent(id)}`, { method: 'DELETE' });
    }
    this.shown = now;
  }

  #show(id, body, kind) {
    return fetch(`${address(this.device)}/display`, {
      method: 'POST', headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ Text: body, Id: id, Kind: kind === 'secret' ? 'payload' : 'prompt' }),
    });
  }
}

function base64URL(buffer) {
  return btoa(String.fromCharCode(...new Uint8Array(buffer)))
    .replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}
