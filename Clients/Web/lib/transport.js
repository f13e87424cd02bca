/**
 * A request to the retrieval service.
 *
 * @typedef {object} TransportRequest
 * @property {string} method
 * @property {string} url the whole URL. It begins with the configuration's `retrievalURL`
 * @property {Record<string, string>} headers `Authorization` included: never log them
 * @property {string | null} body
 */

/**
 * A response of the retrieval service.
 *
 * @typedef {object} TransportResponse
 * @property {number} status
 * @property {Record<string, string>} headers with names in lower case
 * @property {Uint8Array} body a secret in a successful fetch
 */

/**
 * Sends one request and returns its response. {@link FetchTransport} is the real one; tests inject a simulated one. A
 * transport follows no redirect, so that credentials go to no other host, and stops when the signal aborts.
 *
 * @typedef {object} Transport
 * @property {(request: TransportRequest, options: {timeout: number, maxBytes: number, signal: AbortSignal})
 *   => Promise<TransportResponse>} send rejects with a {@link TransportError}
 */

/** Why there is no response. */
export class TransportError extends Error {
  /**
   * @param {'unreachable' | 'timedOut' | 'untrusted' | 'tooLarge'} reason Another try can succeed after the first two.
   */
  constructor(reason) {
    super(`There is no response (${reason}).`);
    this.name = 'TransportError';
    this.reason = reason;
  }
}

/**
 * Sends requests by `fetch`: without cookies, cache and referrer, without redirects, and with a limit for the size of a
 * response that holds while it arrives.
 *
 * @implements {Transport}
 */
export class FetchTransport {
  /** @param {typeof fetch} [fetchFunction] */
  constructor(fetchFunction = globalThis.fetch.bind(globalThis)) {
    this.fetch = fetchFunction;
  }

  /**
   * @param {TransportRequest} request
   * @param {{timeout: number, maxBytes: number, signal: AbortSignal}} options
   * @returns {Promise<TransportResponse>}
   */
  async send(request, { maxBytes, signal }) {
    let response;
    try {
      response = await this.fetch(request.url, {
        method: request.method, headers: request.headers, body: request.body ?? undefined, signal,
        mode: 'cors', credentials: 'omit', cache: 'no-store', redirect: 'manual', referrerPolicy: 'no-referrer',
      });
    } catch {
      throw new TransportError(signal.aborted ? 'timedOut' : 'unreachable');
    }
    // A redirect that was not followed has no status that a script may see.
    if (response.type === 'opaqueredirect') return { status: 302, headers: {}, body: new Uint8Array() };
    const headers = Object.fromEntries(response.headers);
    try {
      return { status: response.status, headers, body: await read(response, maxBytes) };
    } catch (error) {
      if (error instanceof TransportError) throw error;
      throw new TransportError(signal.aborted ? 'timedOut' : 'unreachable');
    }
  }
}

/**
 * Reads a body, and stops reading at the limit.
 *
 * @param {Response} response
 * @param {number} maxBytes
 * @returns {Promise<Uint8Array>}
 */
async function read(response, maxBytes) {
  const parts = [];
  let length = 0;
  const reader = response.body?.getReader();
  for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
    length += part.value.length;
    if (length > maxBytes) {
      reader?.cancel().catch(() => {});
      throw new TransportError('tooLarge');
    }
    parts.push(part.value);
  }
  const body = new Uint8Array(length);
  let offset = 0;
  for (const part of parts) {
    body.set(part, offset);
    offset += part.length;
  }
  return body;
}
