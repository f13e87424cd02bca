import { currentUserName } from './bounded.js';
import { throwIfOver } from './clock.js';
import { DiagnosticCode, SecurePushFailure } from './codes.js';
import { deviceDigest, textDigest } from './device-digest.js';
import { DeviceKey, withNewKey } from './device-key.js';
import { isFinal, outcomeFailure } from './inbox.js';
import { departLate } from './log-out.js';
import { refreshPushKeys } from './push-key-refresh.js';
import { adoptUser } from './receiving.js';
import { emptyRegistration, emptyState } from './state.js';
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

/**
 * @param {SecurePushClient} client
 * @param {PushDevice} device
 * @param {import('./client.js').Wake} wake
 * @param {boolean} [isRenewal] it registers only what the app has registered and not unregistered since
 * @returns {Promise<string | null>} `null`: the device was unregistered in the meantime, and is not registered
 */
export async function register(client, device, wake, isRenewal = false) {
  const { deadline } = wake;
  return lockedAsFailure(async () => {
    throwIfOver(deadline, client.clock);
    wake.userChanges = (await adoptUser(client)).changes;
    const userName = await nameOf(client);
    if (userName === null) throw new SecurePushFailure(DiagnosticCode.loggedOut);
    await refreshPushKeys(client, deadline);
    const digest = await deviceDigest(client.crypto, device);
    const endpoint = await textDigest(client.crypto, device.channel.endpoint);
    const wanted = { userName, tags: device.tags ?? [], serverKey: device.serverKey ?? null };
    throwIfOver(deadline, client.clock);
    const record = await client.keeper.update((_, state) => {
      // The user has logged out since, also in another window.
      if (state.userChanges > wake.userChanges || (isRenewal && !state.registration.wanted)) return null;
      state.registration = { ...state.registration, wanted };
      return state.registration;
    });
    if (!record) return null;
    const age = client.clock.now - (record.registeredAt ?? -Infinity);
    const isCurrent = record.userName === userName && record.digest === digest && age >= 0
      && age < client.limits.renewsRegistrationAfter;
    const known = isCurrent ? record.installationID : null;
    if (known !== null && await reportedKey(client, known, userName, wake)) return known;
    const id = await send(client, device, { userName, digest, wanted, endpoint }, wake);
    if (id !== null && !await reportedKey(client, id, userName, wake)) {
      throw new SecurePushFailure(DiagnosticCode.status(404));
    }
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
 * @param {import('./client.js').Wake} wake
 * @returns {Promise<string | null>} `null`: it was unregistered
 */
async function send(client, device, { userName, digest, wanted, endpoint }, { deadline, userChanges }) {
  /** @type {string | null} */
  let refused = null;
  /** @param {import('./state.js').ClientState} state */
  const isOver = (state) => state.userChanges > userChanges || !state.registration.wanted;
  for (;;) {
    const fresh = globalThis.crypto.randomUUID();
    throwIfOver(deadline, client.clock);
    // Stored first: after a crash the same installation is registered again, not a second one.
    const id = await client.keeper.update((_, state) => {
      if (isOver(state)) return null;
      const { installationID: known, endpoint: last = null } = state.registration;
      // Another device may have the same ID, if the state has come from a backup.
      const isOwn = known !== null && known !== refused && (last === null || last === endpoint);
      state.registration = emptyRegistration(isOwn ? known : fresh, wanted, endpoint);
      // The server forgets it with the installation that it replaces.
      state.keySent = null;
      return state.registration.installationID;
    });
    if (id === null) return null;
    const json = {
      installationId: id, platform: device.platform, pushChannel: device.channel,
      ...(device.tags?.length ? { tags: device.tags } : {}),
    };
    const credentials = await client.store.credentials().catch(() => null);
    const outcome = await client.connection.send({ method: 'PUT', path: `api/installations/${id}`, json }, deadline);
    const registeredAt = client.clock.now;
    const isWanted = await client.keeper.update((_, state) => {
      if (isOver(state)) return false;
      if (outcome.kind === 'success') {
        state.registration = { installationID: id, userName, digest, registeredAt, wanted, endpoint };
      }
      return true;
    });
    if (!isWanted) {
      await departLate(client, id, credentials, userName);
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
 * Registers the device's newest public key, so that senders can encrypt for it.
 *
 * @param {SecurePushClient} client
 * @param {string} id
 * @param {string} userName
 * @param {{deadline: number, userChanges: number, isRetried?: boolean}} wake
 * @returns {Promise<boolean>} `false`: the server does not have the installation any more
 * @throws {SecurePushFailure} if the server may not have it. Otherwise the next call sends it again
 * @throws {import('./store.js').ClientStoreError} if the key cannot be stored
 */
async function registerKey(client, id, userName, { deadline, userChanges, isRetried = true }) {
  const key = await keyOf(client, userName, userChanges);
  if (!key) return true;
  const call = { method: 'PUT', path: `api/devices/${id}/key`, json: key.jwk, success: 204, isRetried };
  const outcome = await client.connection.send(call, Math.min(deadline, client.clock.uptime + secondsForKey));
  if (outcome.kind === 'refused' && outcome.status === 404) return false;
  const keySent = await key.fingerprint(client.crypto);
  if (outcome.kind !== 'success') {
    if ((await client.keeper.read()).keySent !== keySent) throw outcomeFailure(outcome);
    return true;
  }
  await client.keeper.update((_, state) => { if (state.userChanges === userChanges) state.keySent = keySent; });
  return true;
}

/**
 * Registers the key of a device that is registered.
 *
 * @param {SecurePushClient} client
 * @param {string} id
 * @param {string} userName
 * @param {import('./client.js').Wake} wake
 * @returns {Promise<boolean>}
 * @throws {SecurePushFailure} with the installation's ID, unless the user has logged out
 */
async function reportedKey(client, id, userName, wake) {
  try {
    return await registerKey(client, id, userName, wake);
  } catch (error) {
    const fault = isLocked(error) ? DiagnosticCode.locked : DiagnosticCode.noKey;
    const code = error instanceof SecurePushFailure ? error.code : fault;
    throw new SecurePushFailure(code, code === DiagnosticCode.loggedOut ? null : id);
  }
}

/**
 * Registers the device's key again at the end of a wake, if it is time for a new one, or if the server has not taken the
 * last one. A failure is repeated at the next wake.
 *
 * @param {SecurePushClient} client
 * @param {number} deadline
 */
export function renewKey(client, deadline) {
  return client.once('renewKey', async () => {
    const state = await client.keeper.tryRead();
    const { registration, keyOwner, keySent = null, owner, userChanges } = state ?? emptyState();
    const { installationID: id, userName, digest } = registration;
    if (!client.configuration.encryptsEndToEnd || id === null || digest === null || owner === null
      || userName !== owner || (keyOwner !== owner && keyOwner !== null)) return;
    const [newest] = await client.store.deviceKeys().catch(() => []);
    if (newest && !newest.isOld(client.clock.now) && await newest.fingerprint(client.crypto) === keySent) return;
    await registerKey(client, id, owner, { deadline, userChanges, isRetried: false }).catch(() => {});
  });
}

/**
 * The device's newest key for a user, which the first call makes, and the first after 30 days makes anew; `null` if the app
 * does without, or if the user has logged out.
 *
 * @param {SecurePushClient} client
 * @param {string} userName
 * @param {number} userChanges the state's, at which the user was that one
 * @returns {Promise<DeviceKey | null>}
 */
async function keyOf(client, userName, userChanges) {
  const { configuration: { encryptsEndToEnd }, clock, crypto, store } = client;
  const { keyOwner } = await client.keeper.read();
  // Another user's messages are not for the same keys. The server has forgotten the former ones by now.
  if (keyOwner !== userName && (keyOwner !== null || encryptsEndToEnd)) await forgetKeys(client);
  if (!encryptsEndToEnd) return null;
  const isEnough = (/** @type {DeviceKey[]} */ keys) => keys.length > 0 && !keys[0].isOld(clock.now);
  const known = await store.deviceKeys();
  const made = isEnough(known) ? null : await DeviceKey.generate(clock.now, crypto);
  // Another page may have made one in the meantime.
  const kept = made
    ? await store.updateDeviceKeys((keys) => (isEnough(keys) ? keys : withNewKey(keys, made))) : known;
  const isCurrent = await client.keeper.update((_, state) => {
    if (state.userChanges > userChanges) return false;
    state.keyOwner = userName;
    return true;
  });
  // The user has logged out since.
  if (!isCurrent) await store.updateDeviceKeys(() => []);
  return isCurrent ? kept[0] : null;
}

/**
 * Removes the device's keys. Messages that were encrypted for them can never be read again.
 *
 * @param {SecurePushClient} client
 */
async function forgetKeys(client) {
  await client.store.updateDeviceKeys(() => []);
  await client.keeper.update((_, state) => { Object.assign(state, { keyOwner: null, keySent: null }); });
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
