const { INGEST_URL, INGEST_API_KEY } = process.env;
const pause = (seconds) => new Promise((resolve) => setTimeout(resolve, seconds * 1000));

async function send(recipient, payload, key) {
  for (let attempt = 1; ; attempt += 1) {
    let answer;
    try {
      answer = await fetch(`${INGEST_URL}/api/notifications`, {
        method: 'POST',
        headers: {
          Authorization: `Bearer ${INGEST_API_KEY}`,
          'Content-Type': 'application/json',
          'Idempotency-Key': key,
        },
        body: JSON.stringify({ Recipient: recipient, Payload: payload }),
        signal: AbortSignal.timeout(10_000),
      });
    } catch (error) {
      if (attempt === 5) throw new Error(`ingest does not answer: ${error.cause?.message ?? error.message}`);
      await pause(attempt);
      continue;
    }
    if (answer.status === 201) return (await answer.json()).Id;
    if (![409, 429, 502, 503, 504].includes(answer.status) || attempt === 5) throw new Error(await describe(answer));
    await pause(Number(answer.headers.get('Retry-After')) || attempt);
  }
}

async function describe(answer) {
  const problem = await answer.json().catch(() => ({}));
  const issues = (problem.errors ?? []).map((issue) => `${issue.pointer}: ${issue.detail}`);
  return [`${answer.status} ${problem.title}: ${problem.detail}`, ...issues].join('\n');
}

try {
  console.log(await send('alice', { Order: 1093, State: 'shipped' }, 'order-1093-node'));
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
