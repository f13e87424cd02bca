import { emptyState, isState } from './state.js';
import { areSame, ClientStoreError, maxEnvelopes } from './store.js';
import { DeviceKey } from './device-key.js';

/** @typedef {import('./store.js').ClientStore} ClientStore */

const table = 'values';
/** The contents that were opened, by the sender's IDs, with an index of their times. */
const envelopes = 'envelopes';

/**
 * @param {any} value what is stored
 * @returns {import('./store.js').StoredCredentials | null}
 */
const credentialsOf = (value) => (typeof value?.userName === 'string' ? value : null);

/**
 * @param {any} value what is stored
 * @returns {import('./store.js').Departure[]}
 */
const departuresOf = (value) => (Array.isArray(value) ? value : []);

/**
 * The store of a web app, in IndexedDB. The page and its service worker open the same one by its name.
 *
 * Each change is one transaction, and IndexedDB runs transactions that write one after the other, also those of other
 * tabs and of the worker. The browser keeps the private key for end-to-end encryption: it is not extractable, so no
 * script can read it. Tokens can be read by every script of the origin, so the app needs a content security policy.
 *
 * @implements {ClientStore}
 */
export class IndexedDBStore {
  /**
   * @param {string} [name] the database
   * @param {IDBFactory} [factory]
   */
  constructor(name = 'securepush', factory = globalThis.indexedDB) {
    this.name = name;
    this.factory = factory;
    /** @type {Promise<IDBDatabase> | null} */
    this.opening = null;
  }

  /** @returns {Promise<import('./state.js').ClientState>} */
  async read() {
    const state = await this.#run('readonly', (values) => values.get('state'));
    return isState(state) ? state : emptyState();
  }

  /**
   * @template Result
   * @param {(state: import('./state.js').ClientState) => Result} change
   * @returns {Promise<Result>}
   */
  update(change) {
    return this.#transact('readwrite', (values, finish) => {
      const request = values.get('state');
      request.onsuccess = () => {
        const stored = request.result;
        const state = isState(stored) ? stored : emptyState();
        // What cannot be read is put aside, for support.
        if (stored !== undefined && !isState(stored)) values.put(stored, 'state.damaged');
        const result = change(state);
        values.put(state, 'state');
        finish(result);
      };
    });
  }

  /** @returns {Promise<import('./store.js').StoredCredentials | null>} */
  async credentials() {
    return credentialsOf(await this.#run('readonly', (values) => values.get('credentials')));
  }

  /** @param {import('./store.js').StoredCredentials | null} credentials */
  async saveCredentials(credentials) {
    await this.#run('readwrite', (values) => (
      credentials ? values.put(credentials, 'credentials') : values.delete('credentials')));
  }

  /**
   * @param {import('./store.js').StoredCredentials} expected
   * @param {import('./store.js').StoredCredentials} credentials
   * @returns {Promise<boolean>}
   */
  replaceCredentials(expected, credentials) {
    return this.#transact('readwrite', (values, finish) => {
      const request = values.get('credentials');
      request.onsuccess = () => {
        const isExpected = areSame(request.result ?? null, expected);
        if (isExpected) values.put(credentials, 'credentials');
        finish(isExpected);
      };
    });
  }

  /** @returns {Promise<DeviceKey[]>} */
  async deviceKeys() { return DeviceKey.fromStored(await this.#run('readonly', (values) => values.get('deviceKeys'))); }

  /**
   * @param {(keys: DeviceKey[]) => DeviceKey[]} change
   * @returns {Promise<DeviceKey[]>}
   */
  updateDeviceKeys(change) {
    return this.#transact('readwrite', (values, finish) => {
      const request = values.get('deviceKeys');
      request.onsuccess = () => {
        const keys = change(DeviceKey.fromStored(request.result));
        if (keys.length > 0) values.put(keys.map(({ stored }) => stored), 'deviceKeys');
        else values.delete('deviceKeys');
        finish(keys);
      };
    });
  }

  /**
   * @param {import('./store.js').OpenedEnvelope} envelope
   * @returns {Promise<boolean>}
   */
  rememberEnvelope({ id, notification, at, expired }) {
    return this.#transact('readwrite', (records, finish) => {
      const request = records.get(id);
      request.onsuccess = () => {
        const known = request.result;
        finish(!known || known.notification === notification);
        if (!known) {
          records.put({ notification, at }, id);
          forgetOldest(records, expired);
        }
      };
    }, envelopes);
  }

  /**
   * @template Result
   * @param {(values: import('./store.js').StoredValues) => Result} change
   * @returns {Promise<Result>}
   */
  updateAll(change) {
    return this.#transact('readwrite', (values, finish) => {
      const names = ['state', 'credentials', 'departures'];
      const requests = names.map((name) => values.get(name));
      // Requests of one transaction succeed in their order.
      requests[2].onsuccess = () => {
        const [state, credentials, departures] = requests.map(({ result }) => result);
        if (state !== undefined && !isState(state)) values.put(state, 'state.damaged');
        const all = {
          state: isState(state) ? state : emptyState(), credentials: credentialsOf(credentials), keepsDeviceKeys: true,
          departures: departuresOf(departures),
        };
        const result = change(all);
        values.put(all.state, 'state');
        if (all.credentials) values.put(all.credentials, 'credentials');
        else values.delete('credentials');
        if (all.departures.length > 0) values.put(all.departures, 'departures');
        else values.delete('departures');
        if (!all.keepsDeviceKeys) values.delete('deviceKeys');
        finish(result);
      };
    });
  }

  /** @returns {Promise<import('./store.js').Departure[]>} */
  async departures() { return departuresOf(await this.#run('readonly', (values) => values.get('departures'))); }

  /** A browser runs only when the device is unlocked. */
  async claimLockedNotice() { return true; }

  /** Closes the database, for example before it is deleted. */
  async close() { (await this.#release())?.close(); }

  /** Gives up a database that does not answer. The next call opens it anew. */
  abandon() { this.#release()?.then((database) => database?.close()); }

  #release() {
    const { opening } = this;
    this.opening = null;
    return opening?.catch(() => null);
  }

  /** @returns {Promise<IDBDatabase>} */
  #open() {
    this.opening ??= new Promise((resolve, reject) => {
      const request = this.factory.open(this.name, 2);
      request.onupgradeneeded = ({ oldVersion }) => {
        if (oldVersion < 1) request.result.createObjectStore(table);
        // A key of an earlier version, which opens nothing any more.
        request.transaction?.objectStore(table).delete('deviceKey');
        request.result.createObjectStore(envelopes).createIndex('at', 'at');
      };
      request.onerror = () => reject(new ClientStoreError('unreadable'));
      request.onblocked = () => reject(new ClientStoreError('unreadable'));
      request.onsuccess = () => {
        const database = request.result;
        // The user or another version removes the database: it is opened again at the next call.
        database.onclose = () => { this.opening = null; };
        database.onversionchange = () => {
          database.close();
          this.opening = null;
        };
        resolve(database);
      };
    });
    this.opening.catch(() => { this.opening = null; });
    return this.opening;
  }

  /**
   * @param {IDBTransactionMode} mode
   * @param {(values: IDBObjectStore) => IDBRequest} call
   * @returns {Promise<any>}
   */
  #run(mode, call) {
    return this.#transact(mode, (values, finish) => {
      const request = call(values);
      request.onsuccess = () => finish(request.result);
    });
  }

  /**
   * Runs a transaction, and returns what the body finished with as soon as it is on the disk.
   *
   * @param {IDBTransactionMode} mode
   * @param {(values: IDBObjectStore, finish: (result: any) => void) => void} body
   * @param {string} [name] the object store
   * @returns {Promise<any>}
   * @throws {ClientStoreError}
   */
  async #transact(mode, body, name = table) {
    try {
      try {
        return await this.#attempt(await this.#open(), mode, body, name);
      } catch (error) {
        if (!(error instanceof DOMException)) throw error;
        // A connection that the browser has closed is opened once more.
        this.opening = null;
        return await this.#attempt(await this.#open(), mode, body, name);
      }
    } catch (error) {
      if (error instanceof ClientStoreError) throw error;
      // A browser without storage for this site throws, or has no IndexedDB at all.
      throw new ClientStoreError(mode === 'readwrite' ? 'unwritable' : 'unreadable');
    }
  }

  /**
   * @param {IDBDatabase} database
   * @param {IDBTransactionMode} mode
   * @param {(values: IDBObjectStore, finish: (result: any) => void) => void} body
   * @param {string} name
   * @returns {Promise<any>}
   */
  #attempt(database, mode, body, name) {
    return new Promise((resolve, reject) => {
      const transaction = database.transaction(name, mode, { durability: 'strict' });
      /** @type {any} */
      let result;
      transaction.oncomplete = () => resolve(result);
      transaction.onabort = () => reject(new ClientStoreError(mode === 'readwrite' ? 'unwritable' : 'unreadable'));
      body(transaction.objectStore(name), (value) => { result = value; });
    });
  }
}

/**
 * Forgets the contents that are refused by their times, and the oldest if there are too many.
 *
 * @param {IDBObjectStore} records
 * @param {number} expired
 */
function forgetOldest(records, expired) {
  const count = records.count();
  count.onsuccess = () => {
    let surplus = count.result - maxEnvelopes;
    const oldest = records.index('at').openCursor();
    oldest.onsuccess = () => {
      const cursor = oldest.result;
      if (!cursor || (surplus <= 0 && cursor.value.at >= expired)) return;
      surplus -= 1;
      cursor.delete();
      cursor.continue();
    };
  };
}
