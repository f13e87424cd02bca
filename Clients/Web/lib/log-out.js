import { currentUserName } from './bounded.js';
import { limited } from './clock.js';
import { DiagnosticCode, SecurePushFailure } from './codes.js';
import { RetrievalConnection } from './connection.js';
import { DepartedCredentials } from './credentials.js';
import { textDigest } from './device-digest.js';
import { isFinal } from './inbox.js';
import { emptyRegistration } from './state.js';
import { isLocked } from './store.js';

/**
 * @typedef {import('./client.js').SecurePushClient} SecurePushClient
 * @typedef {import('./store.js').Departure} Departure
 */

/** A record with a token is not kept longer than this, in seconds. */
const secondsKept = 86_400;
/** More log-outs without a network than these are forgotten, the oldest first. */
const maxDepartures = 10;
/** What the user waits for at a log-out, and a wake at its end, in seconds. */
const secondsToTell = 8;
/** A page without a worker waits for one for ever. In seconds. */
const secondsForSubscription = 5;

/**
 * Forgets the user in one step of the store: a process that ends before it has changed nothing, and after it only the
 * screen and the server are left, which the record of the departure names. Then the screen is cleared.
 *
 * @param {SecurePushClient} client
 * @param {boolean} endsSession whether the user logs out; otherwise only the registration ends
 * @throws {SecurePushFailure} `SP-LOCKED`
 * @throws {import('./store.js').ClientStoreError} if nothing can be stored: the screen is clear, and the user stays
 */
export async function leave(client, endsSession) {
  const { clock, keeper, presenter } = client;
  const displayed = await presenter.displayedSecrets() ?? new Set();
  try {
    await keeper.updateAll((changes, values) => {
      const { state, credentials } = values;
      const { installationID, wanted, endpoint = null } = state.registration;
      const userName = credentials?.userName ?? state.owner;
      /** @type {Departure} */
      const departure = {
        id: globalThis.crypto.randomUUID(), userName, retrievalURL: client.configuration.retrievalURL, installationID,
        // A device without a key is no subscription of the browser's, such as that of the hub emulator.
        endpoint: wanted?.serverKey === null ? null : endpoint, credentials: endsSession ? credentials : null,
        ids: [...new Set([...changes.forget(null), ...displayed])], at: clock.now,
      };
      // The next user gets an ID and a key of their own.
      Object.assign(state, { registration: emptyRegistration(), keyOwner: null, keySent: null });
      values.keepsDeviceKeys = false;
      if (endsSession) {
        values.credentials = null;
        // Those that were unregistered before, and of which the server does not know yet.
        for (const earlier of values.departures) {
          if (earlier.userName === userName) earlier.credentials ??= credentials;
        }
      }
      values.departures = [...values.departures, departure].slice(-maxDepartures);
    });
  } catch (error) {
    if (isLocked(error)) throw new SecurePushFailure(DiagnosticCode.locked);
    const state = await keeper.tryRead();
    await clear(client, [...displayed, ...(state?.entries.map(({ id }) => id) ?? [])]);
    throw error;
  }
  await clearScreen(client);
}

/**
 * Removes what the user of a departure has seen, if that was not done.
 *
 * @param {SecurePushClient} client
 */
export async function clearScreen(client) {
  const departures = await client.store.departures().catch(() => []);
  for (const { id, ids } of departures) {
    if (ids.length === 0) continue;
    await clear(client, ids);
    await change(client, id, (departure) => { departure.ids = []; });
  }
}

/**
 * @param {SecurePushClient} client
 * @param {string[]} ids
 */
async function clear({ presenter }, ids) {
  await presenter.remove(ids);
  await presenter.removePrompt();
  await presenter.setBadge(0);
}

/**
 * Tells the server of the departures, each with one try. Without an answer, a later wake tries again.
 *
 * @param {SecurePushClient} client
 * @param {number} deadline the clock's uptime
 * @returns {Promise<boolean>} whether none is left
 */
export function finishDepartures(client, deadline) {
  const run = client.lastDeparture.then(async () => {
    const end = Math.min(deadline, client.clock.uptime + secondsToTell);
    const departures = await client.store.departures().catch(() => null);
    let left = departures?.length ?? 1;
    for (const departure of departures ?? []) {
      if (!await isOver(client, departure, end)) continue;
      await change(client, departure.id, null);
      left -= 1;
    }
    return left === 0;
  });
  client.lastDeparture = run.catch(() => {});
  return run;
}

/**
 * @param {SecurePushClient} client
 * @param {Departure} departure
 * @param {number} deadline
 * @returns {Promise<boolean>} whether the record is of no more use
 */
async function isOver(client, departure, deadline) {
  const { clock, limits, connection: { transport } } = client;
  // A clock that was set back must not keep a token.
  if (Math.abs(clock.now - departure.at) > secondsKept) return true;
  if (departure.ids.length > 0) return false;
  const { credentials, installationID, retrievalURL } = departure;
  const departed = credentials
    && new DepartedCredentials({ retrievalURL, credentials }, client.store, transport, clock);
  if (installationID === null) return !departed || departed.end();
  // An app's own session may go on for the same user.
  const isCurrent = await currentUserName(client).then((name) => name === departure.userName, () => false);
  const provider = departed ?? (isCurrent ? client.connection.credentials : null);
  if (!provider) return false;
  if (!await isForeign(client, departure, deadline)) {
    const connection = new RetrievalConnection({ baseURL: retrievalURL, limits, credentials: provider, transport, clock });
    const outcome = await connection.send(
      { method: 'DELETE', path: `api/installations/${installationID}`, success: 204, isRetried: false }, deadline);
    const isAnswered = outcome.kind === 'success' || isFinal(outcome) || (outcome.kind === 'loggedOut' && departed);
    if (!isAnswered) return false;
  }
  await departed?.end();
  return true;
}

/**
 * Whether the state has come from another device, by a backup: the installation is that device's. An endpoint that has
 * changed since is dead, and the hub removes it by itself.
 *
 * @param {SecurePushClient} client
 * @param {Departure} departure
 * @param {number} deadline
 */
async function isForeign(client, { endpoint }, deadline) {
  if (endpoint === null) return false;
  const end = Math.min(deadline, client.clock.uptime + secondsForSubscription);
  const subscription = await limited(
    end, client.clock, async () => (await client.pushManager()).getSubscription()).catch(() => null);
  return subscription !== null && await textDigest(client.crypto, subscription.endpoint) !== endpoint;
}

/**
 * Changes the record of a departure, or removes it. A store that cannot be written leaves it for the next wake.
 *
 * @param {SecurePushClient} client
 * @param {string} id
 * @param {((departure: Departure) => void) | null} body
 */
async function change(client, id, body) {
  await client.store.updateAll((values) => {
    if (!body) values.departures = values.departures.filter((departure) => departure.id !== id);
    else values.departures.filter((departure) => departure.id === id).forEach(body);
  }).catch(() => {});
}

/**
 * Keeps the record of an installation that was registered while the user logged out: it is to be removed.
 *
 * @param {SecurePushClient} client
 * @param {string} installationID
 * @param {import('./store.js').StoredCredentials | null} credentials those with which it was registered
 * @param {string} userName
 */
export async function departLate(client, installationID, credentials, userName) {
  const departure = {
    id: globalThis.crypto.randomUUID(), userName, retrievalURL: client.configuration.retrievalURL, installationID,
    endpoint: null, credentials, ids: [], at: client.clock.now,
  };
  await client.store.updateAll((values) => {
    values.departures = [...values.departures, departure].slice(-maxDepartures);
  });
  await finishDepartures(client, client.begin().deadline);
}
