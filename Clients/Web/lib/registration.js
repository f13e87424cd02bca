import { encodeBase64URL } from './base64url.js';
import { currentUserName } from './bounded.js';
import { limited, throwIfOver } from './clock.js';
import { DiagnosticCode, SecurePushFailure } from './codes.js';
import { DeviceKey } from './device-key.js';
import { isFinal, outcomeFailure } from './inbox.js';
import { refreshPushKeys } from './push-key-refresh.js';
import { adoptUser } from './receiving.js';
import { emptyRegistration } from './state.js';
import { isLocked } from './store.js';

/**
 * @typedef {import('./client.js').SecurePushClient} SecurePushClient
 * @typedef {import('./subscription.js').PushDevice} PushDevice
 */

/**
 * The registration does not wait longer than this for the key, in seconds. A proxy that does not let the request
 * through may refuse it by CORS, which looks like a lost connection.
 */
const secondsForKey = 5;
/** A page without a worker waits for one for ever. In seconds. */
const secondsForSubscription = 5;

/**
 * @param {SecurePushClient} client
 * @param {PushDevice} device
 * @param {import('./client.js').Wake} wake
 * @param {boolean} [isRenewal] it registers only what the app has registered and not unregistered since
 * @returns {Promise<string | null>} `null`: the device was unregistered in the meantime, and is not registered
 */
export async function register(client, device, { deadline }, isRenewal = false) {
  return lockedAsFailure(async () => {
    throwIfOver(deadline, client.clock);
    await adoptUser(client);
    const userName = await nameOf(client);
    if (userName === null) throw new SecurePushFailure(DiagnosticCode.loggedOut);
    await refreshPushKeys(client, deadline);
    const digest = await digestOf(client, device);
    const endpoint = await hash(client, device.channel.endpoint);
    const wanted = { userName, tags: device.tags ?? [], serverKey: device.serverKey ?? null };
    throwIfOver(deadline, client.clock);
    const record = await client.keeper.update((_, state) => {
      if (isRenewal && !state.registration.wanted) return null;
      state.registration = { ...state.registration, wanted };
      return state.registration;
    });
    if (!record) return null;
    const age = client.clock.now - (record.registeredAt ?? -Infinity);
    const isCurrent = record.userName === userName && record.digest === digest && age >= 0
      && age < client.limits.renewsRegistrationAfter;
    const known = isCurrent ? record.installationID : null;
    if (known !== null && await registerKey(client, known, userName, deadline) !== 'unknown') return known;
    const id = await send(client, device, { userName, digest, wanted, endpoint }, deadline);
    if (id !== null) await registerKey(client, id, userName, deadline);
    return id;
  });
}

/**
 * @param {SecurePushClient} client
 * @returns {Promise<string | null>}
 * @throws {SecurePushFailure} if it is not known now
 */
async function nameOf(client) {
  try {
    return await currentUserName(client);
  } catch (error) {
    if (isLocked(error)) throw error;
    throw new SecurePushFailure(DiagnosticCode.credentials);
  }
}

/**
 * Sends the installation, under a new ID if the server does not take the known one. If the device is unregistered in
 * the meantime, such as by another page, it is removed again.
 *
 * @param {SecurePushClient} client
 * @param {PushDevice} device
 * @param {{userName: string, digest: string, endpoint: string,
 *   wanted: import('./state.js').RegistrationRecord['wanted']}} record
 * @param {number} deadline
 * @returns {Promise<string | null>} `null`: it was unregistered
 */
async function send(client, device, { userName, digest, wanted, endpoint }, deadline) {
  let refused = null;
  for (;;) {
    const fresh = globalThis.crypto.randomUUID();
    throwIfOver(deadline, client.clock);
    // Stored first: after a crash the same installation is registered again, not a second one.
    const id = await client.keeper.update((_, state) => {
      if (!state.registration.wanted) return null;
      const { installationID: known, endpoint: last = null } = state.registration;
      // Another device may have the same ID, if the state has come from a backup.
      const isOwn = known !== null && known !== refused && (last === null || last === endpoint);
      state.registration = emptyRegistration(isOwn ? known : fresh, wanted, endpoint);
      return state.registration.installationID;
    });
    if (id === null) return null;
    const json = {
      installationId: id, platform: device.platform, pushChannel: device.channel,
      ...(device.tags?.length ? { tags: device.tags } : {}),
    };
    const outcome = await client.connection.send({ method: 'PUT', path: `api/installations/${id}`, json }, deadline);
    const registeredAt = client.clock.now;
    const isWanted = await client.keeper.update((_, state) => {
      if (!state.registration.wanted) return false;
      if (outcome.kind === 'success') {
        state.registration = { installationID: id, userName, digest, registeredAt, wanted, endpoint };
      }
      return true;
    });
    if (!isWanted) {
      await remove(client, id, client.begin().deadline);
      return null;
    }
    if (outcome.kind === 'success') return id;
    const isGivenUp = outcome.kind === 'refused' && [404, 410].includes(outcome.status);
    if (id === fresh || refused !== null || !isGivenUp) {
      // The server does not want this device: only the app asks again.
      if (isFinal(outcome)) await client.keeper.update((_, state) => { state.registration.wanted = null; });
      throw outcomeFailure(outcome);
    }
    refused = id;
  }
}

/**
 * Removes an installation from the server.
 *
 * @param {SecurePushClient} client
 * @param {string} id
 * @param {number} deadline
 */
const remove = (client, id, deadline) => client.connection.send(
  { method: 'DELETE', path: `api/installations/${id}`, success: 204 }, deadline);

/**
 * Registers the device's public key, so that senders can encrypt for it. A failure is repeated at the next visit: a
 * device without a key still receives what is not encrypted.
 *
 * @param {SecurePushClient} client
 * @param {string} id
 * @param {string} userName
 * @param {number} deadline
 * @returns {Promise<'unknown' | null>} `unknown`: the server does not have the installation any more
 */
async function registerKey(client, id, userName, deadline) {
  const key = await keyOf(client, userName).catch(() => null);
  if (!key) return null;
  const call = { method: 'PUT', path: `api/devices/${id}/key`, json: key.jwk, success: 204 };
  const outcome = await client.connection.send(call, Math.min(deadline, client.clock.uptime + secondsForKey));
  return outcome.kind === 'refused' && outcome.status === 404 ? 'unknown' : null;
}

/**
 * The device's key for a user, which the first call makes; `null` if the browser has no X25519, or if the app does
 * without.
 *
 * @param {SecurePushClient} client
 * @param {string} userName
 */
async function keyOf(client, userName) {
  const { encryptsEndToEnd } = client.configuration;
  const { keyOwner } = await client.keeper.read();
  // Another user's messages are not for the same key. The server has forgotten the former one by now.
  if (keyOwner !== userName && (keyOwner !== null || encryptsEndToEnd)) await forgetKey(client);
  if (!encryptsEndToEnd) return null;
  const key = await client.store.deviceKey() ?? await DeviceKey.generate(client.crypto);
  const kept = key && await client.store.keepDeviceKey(key);
  if (kept) await client.keeper.update((_, state) => { state.keyOwner = userName; });
  return kept;
}

/**
 * Removes the device's key. What was encrypted for it can never be read again.
 *
 * @param {SecurePushClient} client
 */
async function forgetKey(client) {
  await client.store.keepDeviceKey(null);
  await client.keeper.update((_, state) => { state.keyOwner = null; });
}

/**
 * @param {SecurePushClient} client
 * @param {import('./client.js').Wake} wake
 */
export async function unregister(client, { deadline }) {
  await lockedAsFailure(async () => {
    const own = await ownEndpoint(client, deadline);
    // Forgotten first: after a crash the device is not taken for registered.
    const id = await client.keeper.update((_, state) => {
      const { installationID, endpoint = null } = state.registration;
      // The state has come from another device, by a backup: the installation is that device's.
      const isForeign = own !== null && endpoint !== null && own !== endpoint;
      state.registration = isForeign ? emptyRegistration() : emptyRegistration(installationID, null, endpoint);
      return isForeign ? null : installationID;
    });
    if (id !== null) {
      const outcome = await remove(client, id, deadline);
      const isOver = outcome.kind === 'success' || (outcome.kind === 'refused' && [404, 410].includes(outcome.status));
      if (!isOver) throw outcomeFailure(outcome);
    }
    // The next user of this browser gets a key of their own, also if this one cannot be removed now.
    await forgetKey(client).catch(() => {});
    const ids = await client.keeper.update((changes) => changes.forget(null));
    await client.presenter.remove(ids);
    await client.presenter.removePrompt();
    await client.setBadge(0);
  });
}

/**
 * The digest of the endpoint of the browser's subscription; `null` if there is none, or if it is not known now.
 *
 * @param {SecurePushClient} client
 * @param {number} deadline
 * @returns {Promise<string | null>}
 */
async function ownEndpoint(client, deadline) {
  const { clock, keeper } = client;
  // A device without a key is no subscription of the browser's, such as that of the hub emulator.
  if ((await keeper.read()).registration.wanted?.serverKey === null) return null;
  const end = Math.min(deadline, clock.uptime + secondsForSubscription);
  const subscription = await limited(end, clock, async () => (await client.pushManager()).getSubscription())
    .catch(() => null);
  return subscription && hash(client, subscription.endpoint);
}

/**
 * A digest, so that the channel itself is not stored: whoever knows it can take the device over.
 *
 * @param {SecurePushClient} client
 * @param {PushDevice} device
 * @returns {Promise<string>}
 */
function digestOf(client, { platform, channel, tags = [] }) {
  return hash(client, [platform, channel.endpoint, channel.p256dh, channel.auth, ...tags].join('\n'));
}

/**
 * @param {SecurePushClient} client
 * @param {string} text
 * @returns {Promise<string>}
 */
async function hash(client, text) {
  const digest = await client.crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return encodeBase64URL(new Uint8Array(digest));
}

/**
 * @template Result
 * @param {() => Promise<Result>} work
 * @returns {Promise<Result>}
 */
async function lockedAsFailure(work) {
  try {
    return await work();
  } catch (error) {
    if (isLocked(error)) throw new SecurePushFailure(DiagnosticCode.locked);
    throw error;
  }
}
