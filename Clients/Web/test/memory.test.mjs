import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** A payload has at most 256 KiB, and a sender may write each character as `\u0041`. */
const payloads = { plain: `"${'A'.repeat(256 * 1024 - 2)}"`, escaped: `"${'\\u0041'.repeat((256 * 1024 - 2) / 6)}"` };
/** Generous: V8 collects garbage when it likes. In MB. */
const limit = 16;

/**
 * The peak of the resident memory of a process that handles one push, above the peak after it has handled a small one.
 * The server is in this process.
 */
test('a wake for a secret of 256 KiB needs little memory', { skip: process.platform !== 'linux' }, async (context) => {
  const server = createServer((request, response) => {
    const name = /\/api\/notifications\/(\w+)\?/.exec(request.url ?? '')?.[1];
    const body = name ? `{"Id":"${name}","Read":false,"Unread":0,"Payload":${payloads[name] ?? '"small"'}}`
      : '{"Notifications":[],"Unread":0}';
    response.setHeader('Content-Type', 'application/json').end(body);
  });
  await new Promise((resolve) => { server.listen(0, '127.0.0.1', resolve); });
  context.after(() => server.close());
  const script = fileURLToPath(new URL('support/memory-wake.mjs', import.meta.url));
  for (const name of Object.keys(payloads)) {
    const { stdout } = await promisify(execFile)(
      process.execPath, ['--import', fileURLToPath(new URL('setup.mjs', import.meta.url)), script,
        `http://127.0.0.1:${server.address().port}`, name]);
    const { length, before, after } = JSON.parse(stdout);
    assert.equal(length, JSON.parse(payloads[name]).length);
    const growth = (after - before) / 1024;
    context.diagnostic(
      `Memory, ${name}: ${growth.toFixed(1)} MB above the peak of ${(before / 1024).toFixed(1)} MB that Node and a `
      + `small secret need (at most ${limit} MB).`);
    assert.ok(growth <= limit);
  }
});
