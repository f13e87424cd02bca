import { decodeBase64URL, encodeBase64URL } from './base64url.js';
import { DiagnosticCode, SecurePushFailure } from './codes.js';
import { outcomeFailure } from './inbox.js';

/**
 * A device as it is registered with the retrieval service: in the hub's form of a browser. Whoever knows the endpoint
 * can take the device over: never log it.
 *
 * @typedef {object} PushDevice
 * @property {'browser'} platform
 * @property {{endpoint: string, p256dh: string, auth: string}} channel
 * @property {string[]} [tags] tags of the app. The server adds the user's own
 * @property {string | null} [serverKey] the public VAPID key, for a subscription that the browser ends
 */

/**
 * The device of a push subscription.
 *
 * @param {PushSubscription} subscription
 * @param {string[]} [tags]
 * @returns {PushDevice}
 */
export function pushDevice(subscription, tags = []) {
  const key = (/** @type {PushEncryptionKeyName} */ name) => {
    const bytes = subscription.getKey(name);
    if (!bytes) throw new TypeError(`The subscription has no key ${name}.`);
    return encodeBase64URL(new Uint8Array(bytes));
  };
  const channel = { endpoint: subscription.endpoint, p256dh: key('p256dh'), auth: key('auth') };
  const serverKey = subscription.options?.applicationServerKey;
  return {
    platform: 'browser', channel, tags, serverKey: serverKey ? encodeBase64URL(new Uint8Array(serverKey)) : null,
  };
}

/**
 * Subscribes to the browser's push service, or finds the subscription that there is. One for another key is replaced.
 *
 * @param {{pushManager: PushManager}} registration a `ServiceWorkerRegistration`
 * @param {string} applicationServerKey the public VAPID key of the hub's browser credential, in base64url
 * @param {{tags?: string[], timeout?: number}} options `timeout` in seconds: a browser that cannot reach its push
 *   service may not answer at all
 * @returns {Promise<PushDevice>}
 * @throws {DOMException} `NotAllowedError` without the permission, `AbortError` if the push service cannot be reached
 */
export async function subscribeToPush(registration, applicationServerKey, { tags = [], timeout = 20 } = {}) {
  const key = decodeBase64URL(applicationServerKey.replace(/=+$/, ''));
  if (key?.length !== 65) throw new TypeError('The public VAPID key is not a P-256 point in base64url.');
  return pushDevice(await inTime(() => subscriptionFor(registration.pushManager, key), timeout), tags);
}

/**
 * Subscribes with the server's key. A new endpoint of this browser keeps the installation, and so does the first
 * subscription of a page that has listened to the hub emulator until now.
 *
 * @param {import('./client.js').SecurePushClient} client
 * @param {{tags?: string[], timeout?: number}} [options] as those of {@link subscribeToPush}
 * @returns {Promise<PushDevice>}
 */
export async function subscribeWithServerKey(client, options = {}) {
  const key = await readServerKey(client);
  const pushManager = await inTime(async () => client.pushManager(), options.timeout ?? 20);
  const last = await inTime(() => pushManager.getSubscription(), options.timeout ?? 20);
  const device = await subscribeToPush({ pushManager }, key, options);
  await client.keeper.update((_, { registration }) => {
    // A device without a key is no subscription of the browser's: it is the hub emulator's.
    const isOther = last ? last.endpoint !== device.channel.endpoint : registration.wanted?.serverKey === null;
    if (isOther) registration.endpoint = null;
  });
  return device;
}

/**
 * The key with which the server's hub pushes (`GET /api/push-config`), in base64url.
 *
 * @param {import('./client.js').SecurePushClient} client
 * @returns {Promise<string>}
 * @throws {SecurePushFailure} `SP-404` if the server has none
 */
async function readServerKey(client) {
  const outcome = await client.connection.send(
    { path: 'api/push-config', isAuthorized: false }, client.begin().deadline);
  if (outcome.kind !== 'success') throw outcomeFailure(outcome);
  try {
    const { ApplicationServerKey: key } = JSON.parse(new TextDecoder().decode(outcome.body));
    if (decodeBase64URL(key)?.length === 65) return key;
  } catch {
    // Something else has answered.
  }
  throw new SecurePushFailure(DiagnosticCode.malformedAnswer);
}

/**
 * @param {PushManager} pushManager
 * @param {Uint8Array} key
 * @returns {Promise<PushSubscription>}
 */
async function subscriptionFor(pushManager, key) {
  const existing = await pushManager.getSubscription();
  const known = existing?.options.applicationServerKey;
  if (existing && known && encodeBase64URL(new Uint8Array(known)) === encodeBase64URL(key)) return existing;
  await existing?.unsubscribe();
  return pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key });
}

/**
 * @template Value
 * @param {() => Promise<Value>} work
 * @param {number} seconds
 * @returns {Promise<Value>}
 */
export async function inTime(work, seconds) {
  let timer;
  const end = new Promise((_, reject) => {
    const error = new DOMException('The push service did not answer.', 'AbortError');
    timer = setTimeout(() => reject(error), seconds * 1000);
  });
  try {
    return await Promise.race([work(), end]);
  } finally {
    clearTimeout(timer);
  }
}
