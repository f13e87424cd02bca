import { decodeBase64URL } from './base64url.js';
import { currentUserName } from './bounded.js';
import { register } from './registration.js';
import { inTime, pushDevice } from './subscription.js';

/**
 * @typedef {import('./client.js').SecurePushClient} SecurePushClient
 * @typedef {import('./client.js').Wake} Wake
 */

/** A browser that cannot reach its push service may not answer at all. In seconds. */
const secondsToSubscribe = 20;
/** What is tried again at the end of a wake is not worth more time than this, in seconds. */
const secondsAtEnd = 8;

/**
 * Registers the subscription that has taken the place of another, as the app registered the last one: for the same user
 * and with the same tags. A browser that is not registered, or no longer, stays so.
 *
 * @param {SecurePushClient} client
 * @param {Wake} wake
 * @param {PushSubscription | null} replacement the new subscription; `null`: the browser has one, or makes one
 * @param {PushSubscriptionOptions | null} options those of the last subscription, if they are known
 * @param {boolean} onlyIfFailed not if the last registration has succeeded by now
 */
export async function renewSubscription(client, wake, replacement, options, onlyIfFailed) {
  // Stored first: without a connection the next wake tries again.
  const wanted = await client.keeper.update((_, state) => {
    const { registration } = state;
    if (onlyIfFailed && registration.digest !== null) return null;
    state.registration = { ...registration, digest: null, registeredAt: null, endpoint: null };
    return registration.wanted ?? null;
  });
  if (!wanted || wanted.userName !== await currentUserName(client)) return;
  const key = options?.applicationServerKey ?? decodeBase64URL(wanted.serverKey ?? '');
  const subscription = replacement ?? await inTime(async () => {
    const pushManager = await client.pushManager();
    return await pushManager.getSubscription()
      ?? pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key });
  }, secondsToSubscribe);
  await register(client, pushDevice(subscription, wanted.tags), wake, true);
}

/**
 * Registers the device again, if the last try failed.
 *
 * @param {SecurePushClient} client
 * @param {number} deadline
 */
export function renewFailedRegistration(client, deadline) {
  return client.once('renewFailedRegistration', async () => {
    const { wanted, digest } = (await client.keeper.tryRead())?.registration ?? {};
    // A device without a key is no subscription of the browser's, such as that of the hub emulator.
    if (!wanted?.serverKey || digest !== null) return;
    const end = Math.min(deadline, client.clock.uptime + secondsAtEnd);
    await client.renewSubscription(null, null, end, true).catch(() => {});
  });
}
