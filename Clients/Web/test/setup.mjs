// Node 18 has Web Crypto only as a module.
import { webcrypto } from 'node:crypto';

globalThis.crypto ??= webcrypto;
