/**
 * Tells the answers of the retrieval service from those of a proxy, a gateway or a captive portal in front of it. All
 * errors of the service are `application/problem+json`, and its 401 has `WWW-Authenticate`; what else it sends is JSON
 * or nothing. The errors of a gateway may be JSON, too.
 *
 * @typedef {import('./transport.js').TransportResponse} TransportResponse
 */

/** @param {TransportResponse} response */
const mediaType = ({ headers }) => (headers['content-type'] ?? '').split(';')[0].trim().toLowerCase();

const problem = 'application/problem+json';

/**
 * Whether an answer is JSON, or does not say what it is.
 *
 * @param {TransportResponse} response
 * @returns {boolean}
 */
export const hasOwnForm = (response) => ['', 'application/json', problem].includes(mediaType(response));

/** @param {TransportResponse} response */
const isBare = (response) => mediaType(response) === '' && response.body.length === 0;

/**
 * Whether an error can be of the service. A bare status says nothing of its sender.
 *
 * @param {TransportResponse} response
 * @returns {boolean}
 */
export const isOwnRefusal = (response) => mediaType(response) === problem || isBare(response);

/**
 * Whether the service itself has refused the credentials. A 401 of a proxy says nothing of them.
 *
 * @param {TransportResponse} response
 * @returns {boolean}
 */
export function isOwnUnauthorized(response) {
  if (response.status !== 401) return false;
  return mediaType(response) === problem
    || (isBare(response) && /(^|,)\s*bearer(\s|,|$)/i.test(response.headers['www-authenticate'] ?? ''));
}

/**
 * Whether a refusal cannot be of the service. Statuses after which the request is repeated anyway do not count.
 *
 * @param {TransportResponse} response
 * @param {boolean} isAuthorized whether the request had credentials
 * @returns {boolean}
 */
export function isForeignRefusal(response, isAuthorized) {
  const { status } = response;
  if (status < 400 || status >= 500 || status === 408 || status === 429) return false;
  return !(status === 401 && isAuthorized ? isOwnUnauthorized(response) : isOwnRefusal(response));
}

/**
 * Whether the service has carried out a request: the status of the route, and JSON for `GET`, otherwise no body. A
 * captive portal answers everything with 200.
 *
 * @param {TransportResponse} response
 * @param {{method?: string, success?: number}} call
 * @returns {boolean}
 */
export function isSuccess(response, { method = 'GET', success = 200 }) {
  if (!hasOwnForm(response)) return false;
  return response.status === success && (method === 'GET' || response.body.length === 0);
}

/**
 * Whether an answer to a refresh ends the session: the service's own 401, or `invalid_grant` (RFC 6749, section 5.2).
 *
 * @param {TransportResponse} response
 * @returns {boolean}
 */
export function endsSession(response) {
  if (response.status !== 400 || mediaType(response) !== 'application/json') return isOwnUnauthorized(response);
  try {
    return JSON.parse(new TextDecoder().decode(response.body))?.error === 'invalid_grant';
  } catch {
    return false;
  }
}
