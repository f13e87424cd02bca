import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The folder of the vectors that all SDKs run. `SECUREPUSH_VECTORS` names another one. */
const folder = process.env.SECUREPUSH_VECTORS ?? fileURLToPath(new URL('../../../vectors', import.meta.url));

/** Reads a file of vectors. */
export const loadVectors = (name) => JSON.parse(readFileSync(`${folder}/${name}.json`, 'utf8'));
