// Requests to the operator's API, and this page's entries in the browser's local storage.

/** An answer that is not a success, or none: `status` is 0 then. */
export class Failure extends Error {
  constructor(status, text, retryAfter = 0) {
    super(text);
    this.status = status;
    this.retryAfter = retryAfter;
  }
}

/** The last answer that had a tag: 304 means that it still holds. */
let tagged = { path: null };

export async function get(path) {
  const before = tagged.path === path ? tagged : null;
  const response = await ask(path, { headers: before ? { "If-None-Match": before.tag } : {} }, 304);
  if (response.status === 304) return before.answer;
  const answer = await body(response);
  const tag = response.headers.get("ETag");
  // The overview changes with each answer.
  if (tag && !path.startsWith("overview")) tagged = { path, tag, answer };
  return answer;
}

export async function post(path, value) {
  return body(await ask(path, {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(value),
  }));
}

async function ask(path, options, accepted = 200) {
  let response;
  try {
    response = await fetch(`/admin/api/${path}`, { ...options, cache: "no-store", signal: AbortSignal.timeout(20_000) });
  } catch (error) {
    throw new Failure(0, error.name === "TimeoutError" ? "no answer within 20 s" : "no connection to the service");
  }
  if (response.ok || response.status === accepted) return response;
  const problem = await response.json().catch(() => ({}));
  throw new Failure(response.status, problem.detail || problem.title || `the answer was ${response.status}`,
    Number(response.headers.get("Retry-After")) || 0);
}

async function body(response) {
  try {
    return await response.json();
  } catch {
    throw new Failure(0, "the answer was cut off");
  }
}

/** What survives a reload. A browser that stores nothing forgets. */
export function remembered(name) {
  try {
    return localStorage.getItem(`operator.${name}`);
  } catch {
    return null;
  }
}

export function remember(name, value) {
  try {
    if (value === null) localStorage.removeItem(`operator.${name}`);
    else localStorage.setItem(`operator.${name}`, value);
  } catch {
    // It is a convenience.
  }
}
