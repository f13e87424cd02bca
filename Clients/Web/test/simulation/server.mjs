/** The retrieval service, as far as a device sees it: section E of the contract. */
export class SimulatedServer {
  static host = 'push.example.com';
  static url = `https://${SimulatedServer.host}`;
  static user = 'alice';
  static password = 'correct horse';

  /** @param {object | null} pushKeys what `GET /api/push-keys` returns; `null`: 404 */
  constructor(pushKeys = null) {
    this.pushKeys = pushKeys;
    this.stored = [];
    this.accessTokens = new Set();
    this.refreshTokens = new Set();
    /** What a refresh token was exchanged for. The server repeats it for 60 s; here, until it is used. */
    this.successors = new Map();
    this.count = 0;
    /** Method and path of each request, in order. */
    this.log = [];
    /** Requests to any other host, or with credentials in the URL. */
    this.strayRequests = 0;
    this.installations = new Map();
    this.keys = new Map();
    /** The bodies of the reports of what was shown. */
    this.reports = [];
    /** An ID for which `PUT /api/installations` answers with a status. */
    this.refusals = new Map();
  }

  /** Stores a secret for the user. `more`: members of the answers to a fetch, and `answers` with a `challenge`. */
  send(payload = undefined, { answers = [], challenge = null, ...more } = {}) {
    this.count += 1;
    const id = `019aa4a2-1c9b-7000-8000-${String(this.count).padStart(12, '0')}`;
    this.stored.push({
      id, payload: payload ?? `secret of ${id}`, isRead: false, isRevoked: false, more, answers, challenge, answer: null, wrong: 0,
    });
    return id;
  }

  tokens() {
    this.count += 1;
    const pair = { access: `access-${this.count}`, refresh: `refresh-${this.count}` };
    this.accessTokens.add(pair.access);
    this.refreshTokens.add(pair.refresh);
    return pair;
  }

  /** The server refuses the access tokens that it has issued; refresh tokens stay. */
  revokeAccessTokens() { this.accessTokens.clear(); }

  /** The user has to log in again. */
  endSessions() {
    this.accessTokens.clear();
    this.refreshTokens.clear();
  }

  /** The sender withdraws a secret. */
  revoke(id) { this.#find(id).isRevoked = true; }

  /** The secrets that a device of the user has fetched. */
  get read() { return this.stored.filter((entry) => entry.isRead).map((entry) => entry.id); }

  requests(prefix) { return this.log.filter((line) => line.startsWith(prefix)).length; }

  respond(request) {
    const url = new URL(request.url);
    if (url.host !== SimulatedServer.host || url.protocol !== 'https:' || url.username) {
      this.strayRequests += 1;
      return answer(200);
    }
    this.log.push(`${request.method} ${url.pathname}`);
    const path = url.pathname.split('/').filter(Boolean);
    if (url.pathname === '/api/token') return this.#token(request);
    if (url.pathname === '/api/push-keys') return this.pushKeys ? answer(200, this.pushKeys) : answer(404);
    if (url.pathname === '/api/push-config') {
      return this.serverKey ? answer(200, { ApplicationServerKey: this.serverKey }) : answer(404);
    }
    if (!this.#isAuthorized(request)) return answer(401);
    const [, area, id, last] = path;
    const route = `${request.method} ${area}${last ? `/${last}` : ''}${id && !last ? '/{id}' : ''}`;
    switch (route) {
      case 'GET notifications': return this.#inbox(url.searchParams);
      case 'HEAD notifications/{id}': return answer(this.#status(id));
      case 'GET notifications/{id}': return this.#read(id, url.searchParams);
      case 'POST notifications/shown':
        this.reports.push({ id, ...JSON.parse(request.body) });
        return answer(this.#status(id) === 404 ? 404 : 204);
      case 'POST notifications/answer': return answer(this.#answer(id, JSON.parse(request.body)));
      case 'GET installations': return this.#devices(url.searchParams);
      case 'DELETE devices':
        this.installations.clear();
        return answer(204);
      case 'POST notifications/{id}': return this.#mark(request);
      case 'PUT installations/{id}': {
        const status = this.refusals.get(id);
        if (status) return answer(status);
        this.installations.set(id, JSON.parse(request.body));
        return answer(200);
      }
      case 'DELETE installations/{id}': return answer(this.installations.delete(id) ? 204 : 404);
      case 'PUT devices/key': {
        this.keys.set(id, JSON.parse(request.body));
        return answer(204);
      }
      default: return answer(404);
    }
  }

  #find(id) { return this.stored.find((entry) => entry.id === id); }

  #status(id) {
    const entry = this.#find(id);
    if (!entry) return 404;
    return entry.isRevoked ? 410 : 200;
  }

  #isAuthorized(request) {
    const value = request.headers.Authorization ?? '';
    if (value.startsWith('Bearer ')) return this.accessTokens.has(value.slice(7));
    return value === `Basic ${btoa(`${SimulatedServer.user}:${SimulatedServer.password}`)}`;
  }

  /** A log-in with the password, or a refresh. A refresh token is single use; a late second use ends the family. */
  #token(request) {
    const presented = request.body ? JSON.parse(request.body).refresh_token : null;
    if (request.method === 'DELETE') {
      this.refreshTokens.delete(presented);
      return answer(204);
    }
    if (presented) {
      // A lost answer is repeated, as long as what it gave has not been used.
      const successor = this.successors.get(presented);
      if (successor && this.refreshTokens.has(successor.refresh_token)) return answer(200, successor);
      if (!this.refreshTokens.delete(presented)) {
        this.endSessions();
        return answer(401);
      }
    } else if (!this.#isAuthorized(request)) {
      return answer(401);
    }
    const { access, refresh } = this.tokens();
    const tokens = { access_token: access, token_type: 'Bearer', expires_in: 3600, refresh_token: refresh };
    if (presented) this.successors.set(presented, tokens);
    return answer(200, tokens);
  }

  #read(id, query) {
    const status = this.#status(id);
    if (status !== 200) return answer(status);
    const entry = this.#find(id);
    const found = { Id: entry.id, Read: entry.isRead, ...entry.more, Payload: entry.payload };
    entry.isRead = true;
    if (query.get('include') === 'unread') found.Unread = this.#unread;
    return answer(200, found);
  }

  /** Contract, section L: one answer, and three tries of the challenge. */
  #answer(id, { Action: action, Text: text = null, Challenge: challenge = null }) {
    const status = this.#status(id);
    if (status !== 200) return status;
    const entry = this.#find(id);
    if (entry.answer) return entry.answer.action === action && entry.answer.text === text ? 204 : 409;
    if (entry.wrong === 3) return 410;
    if (!entry.answers.includes(action)) return 422;
    if (entry.challenge !== null && entry.challenge !== challenge) {
      if (challenge !== null) entry.wrong += 1;
      return entry.wrong === 3 ? 410 : 422;
    }
    Object.assign(entry, { answer: { action, text }, isRead: true });
    return 204;
  }

  #devices(query) {
    const limit = Math.min(Number(query.get('Limit')), this.devicesPerPage ?? 100);
    const ids = [...this.installations.keys()].sort().filter((id) => id > (query.get('After') ?? ''));
    const page = ids.slice(0, limit).map((id) => ({
      installationId: id, platform: this.installations.get(id).platform ?? 'browser', pushChannel: 'secret', LastSeenAt: '2026-11-22T00:00:00.000Z',
    }));
    return answer(200, { Installations: page, ...(ids.length > limit ? { Next: page.at(-1).installationId } : {}) });
  }

  #mark(request) {
    const { Ids: ids = [] } = JSON.parse(request.body);
    for (const id of ids) if (this.#find(id)) this.#find(id).isRead = true;
    return answer(204);
  }

  #inbox(query) {
    const withPayload = query.get('include') === 'payload';
    const limit = Math.min(Number(query.get('Limit') ?? 50), withPayload ? 20 : 200);
    const after = query.get('After');
    const found = this.stored.filter(
      (entry) => !entry.isRevoked && (query.get('Unread') !== 'true' || !entry.isRead)
        && (after === null || entry.id > after));
    const page = found.slice(0, limit);
    const entries = page.map((entry) => ({
      Id: entry.id, Read: entry.isRead,
      ...(withPayload ? { ...entry.more, Payload: entry.payload } : { CreatedAt: '2026-11-22T10:00:00.000Z' }),
    }));
    if (withPayload) for (const entry of page) entry.isRead = true;
    const next = found.length > page.length ? { Next: page.at(-1).id } : {};
    return answer(200, { Notifications: entries, Unread: this.#unread, ...next });
  }

  get #unread() { return this.stored.filter((entry) => !entry.isRead && !entry.isRevoked).length; }
}

/** A response of the server: JSON, `application/problem+json` for errors, or nothing. */
export function answer(status, value = null, headers = {}) {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const type = status >= 400 ? 'application/problem+json' : value !== null && 'application/json';
  const own = {
    ...(type ? { 'content-type': type } : {}),
    ...(status === 401 ? { 'www-authenticate': 'Bearer error="invalid_token"' } : {}),
  };
  const body = value === null ? new Uint8Array() : new TextEncoder().encode(text);
  return { status, headers: { ...own, ...headers }, body };
}

/** A response of a proxy or a captive portal in front of the server. */
export function proxyAnswer(status, text = '<html><body>Log in to the network</body></html>', headers = {}) {
  return { status, headers: { 'content-type': 'text/html', ...headers }, body: new TextEncoder().encode(text) };
}
