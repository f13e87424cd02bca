import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { after } from 'node:test';
import * as api from '../securepush.js';

const root = new URL('..', import.meta.url).pathname;
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

/** Runs a command; its output as the message if it fails. */
function run(command, args, cwd) {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    cwd, encoding: 'utf8', env: { ...process.env, npm_config_update_notifier: 'false', npm_config_offline: 'true' },
  });
  assert.equal(status, 0, `${command} ${args.join(' ')}: ${error ?? ''}${stdout}${stderr}`);
  return stdout;
}

const folder = mkdtempSync(join(tmpdir(), 'securepush-types-'));
after(() => rmSync(folder, { recursive: true }));

/** The package as it is published, in a folder of an app. */
function install() {
  // TypeScript looks at no JSDoc below `node_modules`: the package gets there when its types are made.
  const target = join(folder, 'package');
  mkdirSync(target);
  const sources = manifest.files.filter((name) => name !== 'types');
  for (const name of [...sources, 'package.json', 'tsconfig.json', 'README.md', 'LICENSE']) {
    cpSync(join(root, name), join(target, name), { recursive: true });
  }
  run('tsc', ['-p', '.'], target);
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(target, join(folder, 'node_modules', manifest.name));
  return target;
}

const target = install();

test('the JSDoc is sound, and an app in TypeScript compiles with tsc --strict against the package', () => {
  cpSync(join(root, 'test/types'), join(folder, 'src'), { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  for (const [module, resolution] of [['node16', 'node16'], ['es2022', 'node']]) {
    run('tsc', [
      '--strict', '--noEmit', '--target', 'es2022', '--module', module, '--moduleResolution', resolution,
      '--lib', 'es2022,dom,dom.iterable', 'src/app.ts', 'src/worker.ts',
    ], folder);
  }
});

test('the exports of the package are files, and have types of everything that they export', async () => {
  for (const { types, default: script } of Object.values(manifest.exports).filter((value) => value.types)) {
    for (const path of [types, script]) assert.ok(existsSync(join(target, path)), path);
    const text = readFileSync(join(target, types), 'utf8');
    for (const name of Object.keys(await import(join(target, script)))) assert.match(text, new RegExp(`\\b${name}\\b`));
  }
  assert.ok(Object.keys(api).length > 20);
});

test('npm pack takes the module, its types, the licence and the read-me, and nothing else', (context) => {
  if (spawnSync('npm', ['--version']).status !== 0) {
    context.skip('Debian has npm in a package of its own');
    return;
  }
  assert.match(manifest.scripts.prepack, /types/);
  const output = run('npm', ['pack', '--json', '--dry-run', '--ignore-scripts'], target);
  const [{ name, version, files }] = JSON.parse(output.slice(output.indexOf('[')));
  assert.deepEqual([name, version], [manifest.name, manifest.version]);
  const paths = files.map(({ path }) => path);
  const odd = paths.filter((path) => !/^(securepush(-worker)?\.js|lib\/[\w-]+\.js|types\/(lib\/)?[\w-]+\.d\.ts)$/.test(path));
  assert.deepEqual(odd.sort(), ['LICENSE', 'README.md', 'package.json']);
  const scripts = paths.filter((path) => path.endsWith('.js'));
  assert.deepEqual(
    paths.filter((path) => path.endsWith('.d.ts')).map((path) => path.slice('types/'.length, -'.d.ts'.length)).sort(),
    scripts.map((path) => path.slice(0, -'.js'.length)).sort());
  assert.ok(!manifest.private && !manifest.dependencies);
});
