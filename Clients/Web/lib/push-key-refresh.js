import { PushKeySet } from './push-keys.js';

/** @typedef {import('./client.js').SecurePushClient} SecurePushClient */

/** The keys are never worth more time than this, in seconds. */
const secondsForPushKeys = 5;
/** The request for the keys. They are the same for everybody. */
const call = Object.freeze({ path: 'api/push-keys', isAuthorized: false });

/**
 * Reads the server's keys for pushes, if those that are stored are old. A device whose app is not opened learns the
 * next key in this way, while its pushes are still signed with the last one.
 *
 * One wake does this for all wakes at the same time, with one request of at most 5 s. After a failure the next wake
 * tries again.
 *
 * @param {SecurePushClient} client
 * @param {number} deadline
 */
export function refreshOldPushKeys(client, deadline) {
  return client.once('refreshOldPushKeys', async () => {
    if (!readsPushKeys(client)) return;
    const state = await client.keeper.tryRead();
    if (!state) return;
    if (state.pushKeys && isFresh(client, state.pushKeysReadAt)) return;
    await readPushKeysOnce(client, deadline);
  });
}

/**
 * Reads the server's keys for pushes after a signature by an unknown key: the server may have replaced its key at once,
 * because the last one was stolen. The request names nothing of the push, and whoever forges pushes causes one in an
 * hour.
 *
 * @param {SecurePushClient} client
 * @param {number} deadline
 * @returns {Promise<boolean>} whether there are keys that were not known
 */
export async function readUnknownPushKeys(client, deadline) {
  if (!readsPushKeys(client)) return false;
  const last = await client.keeper.update((_, state) => {
    const { pushKeys, pushKeysReadAt, pushKeysAskedAt = null } = state;
    if (isFresh(client, pushKeysReadAt) || isFresh(client, pushKeysAskedAt)) return null;
    state.pushKeysAskedAt = client.clock.now;
    return { pushKeys };
  });
  if (!last) return false;
  await readPushKeysOnce(client, deadline);
  const { pushKeys } = await client.keeper.read();
  return JSON.stringify(pushKeys) !== JSON.stringify(last.pushKeys);
}

/**
 * Whether a time is not long ago. A clock that went back tells nothing of the age.
 *
 * @param {SecurePushClient} client
 * @param {number | null} time
 */
function isFresh({ clock, limits }, time) {
  const age = clock.now - (time ?? -Infinity);
  return age >= 0 && age < limits.refreshesPushKeysAfter;
}

/**
 * @param {SecurePushClient} client
 * @param {number} deadline
 */
const readPushKeysOnce = (client, deadline) => readPushKeys(
  client, { ...call, isRetried: false }, Math.min(deadline, client.clock.uptime + secondsForPushKeys));

/**
 * Reads the server's keys for pushes, with all tries of the fetch plan.
 *
 * @param {SecurePushClient} client
 * @param {number} deadline
 */
export async function refreshPushKeys(client, deadline) {
  if (readsPushKeys(client)) await readPushKeys(client, call, deadline);
}

/**
 * The keys come from the configured host, over the same TLS as the secrets, so they replace the configured keys. A
 * failure, and a set that cannot be used, change nothing.
 *
 * @param {SecurePushClient} client
 * @param {import('./connection.js').Call} request
 * @param {number} deadline
 */
async function readPushKeys(client, request, deadline) {
  const outcome = await client.connection.send(request, deadline);
  if (outcome.kind !== 'success') return;
  try {
    const { keys } = PushKeySet.fromJWKSet(new TextDecoder().decode(outcome.body));
    const pushKeysReadAt = client.clock.now;
    await client.keeper.update((_, state) => { Object.assign(state, { pushKeys: [...keys], pushKeysReadAt }); });
  } catch {
    // The last keys stay.
  }
}

/** @param {SecurePushClient} client */
const readsPushKeys = ({ configuration }) => configuration.pushKeys !== null && configuration.refreshesPushKeys;
